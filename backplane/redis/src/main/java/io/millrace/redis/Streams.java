package io.millrace.redis;

import io.lettuce.core.StreamMessage;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.StoredRecord;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a log is kept in Redis: a stream of the topic's name, whose ids are positions. The part before the dash, which is
 * a time elsewhere, is the epoch and stays the same; so Redis counts the part behind it: 1, 2, 3. Ids only grow, so a
 * stream that was lost and made again has a later epoch, and whoever follows the old one gets the records of the new
 * one, and sees by their ids that it is another.
 *
 * <p>Which server has begun the epoch is kept beside it. Another one, or the same after a restart, begins a new epoch
 * before it is appended to: what was lost from the end of the old one is never numbered again.
 */
final class Streams {
    static final String FIELD = "r";
    private static final Pattern ID = Pattern.compile("[0-9]{1,18}-[0-9]{1,18}");
    private static final int LONGEST_ID = 40;

    /**
     * Returns the id of the end of a stream. Makes the stream if there is none. KEYS: the stream, what remembers the
     * server; ARGV: the server's run id.
     */
    static final String OPEN = """
            local function last()
              local info = redis.call('XINFO', 'STREAM', KEYS[1])
              for i = 1, #info, 2 do
                if info[i] == 'last-generated-id' then return info[i + 1] end
              end
            end
            local exists = redis.call('EXISTS', KEYS[1]) == 1
            if exists and redis.call('GET', KEYS[2]) == ARGV[1] then return last() end
            local time = redis.call('TIME')
            local epoch = time[1] * 1000 + math.floor(time[2] / 1000)
            if exists then
              local before = tonumber(string.match(last(), '^%d+'))
              if epoch <= before then epoch = before + 1 end
              redis.call('XSETID', KEYS[1], string.format('%.0f-0', epoch))
            else
              redis.call('XADD', KEYS[1], 'MAXLEN', '0', string.format('%.0f-0', epoch), 'r', '')
            end
            redis.call('SET', KEYS[2], ARGV[1])
            return last()
            """;

    /**
     * Appends a record and publishes it, with its id, to the stream's channel: both or neither, in one order.
     * Returns the id, or nothing if there is no such stream. KEYS: the stream; ARGV: the id, of which Redis counts the second
     * part, the record, how many records to keep, the channel.
     */
    static final String ADD = """
            local id = redis.call('XADD', KEYS[1], 'NOMKSTREAM', 'MAXLEN', '~', ARGV[3], ARGV[1], 'r', ARGV[2])
            if id then redis.call('PUBLISH', ARGV[4], id .. ' ' .. ARGV[2]) end
            return id
            """;

    private Streams() {}

    /** Reads what {@link #ADD} publishes; null if somebody else has published it. */
    static @Nullable StoredRecord published(byte[] bytes) {
        int blank = 0;
        while (blank < bytes.length && blank < LONGEST_ID && bytes[blank] != ' ') {
            blank++;
        }
        String id = new String(bytes, 0, blank, StandardCharsets.US_ASCII);
        if (blank == bytes.length || !ID.matcher(id).matches() || !isPosition(id)) {
            return null;
        }
        return new StoredRecord(position(id), Arrays.copyOfRange(bytes, blank + 1, bytes.length));
    }

    /** The braces keep both in one slot. */
    static String key(String namespace, String topic) {
        return namespace + ":{" + topic + "}";
    }

    static String[] keys(String key) {
        return new String[] {key, key + ":run"};
    }

    static Position position(String id) {
        int dash = id.indexOf('-');
        String epoch = id.substring(0, dash);
        String offset = id.substring(dash + 1);
        if (!isNumber(epoch) || !isNumber(offset)) {
            throw new IllegalStateException(
                    "a stream ends with the id " + id
                            + ", which no backplane has written, and behind which Redis has no numbers left; delete the stream");
        }
        return new Position(epoch, Long.parseLong(offset));
    }

    /** Whether a record may be one of ours, and not what somebody has added with an id of another kind. */
    static boolean isPosition(String id) {
        int dash = id.indexOf('-');
        String offset = id.substring(dash + 1);
        return isNumber(id.substring(0, dash)) && isNumber(offset) && !offset.equals("0");
    }

    /** Of another engine's position, an id before everything. */
    static String id(Position position) {
        return isNumber(position.epoch()) ? position.epoch() + "-" + position.offset() : "0-0";
    }

    /** Whether a position is the next one behind an id. */
    static boolean continues(String id, Position next) {
        int dash = id.indexOf('-');
        String offset = id.substring(dash + 1);
        return id.substring(0, dash).equals(next.epoch())
                && isNumber(offset)
                && Long.parseLong(offset) + 1 == next.offset();
    }

    private static boolean isNumber(String text) {
        return text.length() <= 18 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    static boolean isBehind(Position one, Position two) {
        long first = Long.parseLong(one.epoch());
        long second = Long.parseLong(two.epoch());
        return first == second ? one.offset() > two.offset() : first > second;
    }

    /** Without what strangers have added under ids that are no positions. */
    static List<StoredRecord> records(List<StreamMessage<String, byte[]>> messages) {
        return messages.stream()
                .filter(message -> isPosition(message.getId()))
                .map(message -> new StoredRecord(position(message.getId()), bytes(message)))
                .toList();
    }

    static byte[] bytes(StreamMessage<String, byte[]> message) {
        byte[] bytes = message.getBody().get(FIELD);
        return bytes == null ? new byte[0] : bytes;
    }
}
