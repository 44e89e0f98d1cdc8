package io.millrace.cli.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds commands in bytes, as RESP arrays of bulk strings or as lines of words. When more bytes arrive, it continues
 * where it stopped, so each byte is read once, in whatever pieces it arrives. Nothing is copied: a word is an offset
 * and a length.
 */
final class CommandParser {
    static final int MAX_BULK = 512 << 20;
    static final int MAX_LINE = 64 << 10;
    static final int MAX_WORDS = 1 << 20;

    /** Room for the words of a usual command; more is released afterwards. */
    private static final int USUAL = 16;

    private static final int UNKNOWN = -1;

    /** The input violates the protocol. */
    static final class ProtocolError extends Exception {
        private static final long serialVersionUID = 1;

        ProtocolError(String message) {
            super(message, null, false, false);
        }
    }

    // ---- The command that is being read; positions are relative to its first byte ----
    private int[] words = new int[2 * USUAL];
    private int count;
    private int expected = UNKNOWN;
    private int bulk = UNKNOWN;
    private int position;
    private int searched;

    // ---- The bytes that contain it ----
    private byte[] bytes = {};
    private int begin;

    /**
     * Reads a command.
     *
     * @param in contains everything since the last {@link #next}
     * @param from the first byte of the command
     * @param end the end of the bytes that have arrived
     * @return how many bytes the command has, or 0 if it is incomplete
     */
    int read(byte[] in, int from, int end) throws ProtocolError {
        bytes = in;
        begin = from;
        if (from == end) {
            return 0;
        }
        if (in[from] != '*') {
            return readLine(end);
        }
        if (expected == UNKNOWN && !readCount(end)) {
            return 0;
        }
        while (count < expected) {
            if (bulk == UNKNOWN && !readBulkLength(end)) {
                return 0;
            }
            if (end - begin - position < bulk + 2L) {
                return 0;
            }
            add(position, bulk);
            position += bulk + 2;
            searched = position;
            bulk = UNKNOWN;
        }
        return position;
    }

    /** Forgets the current command. */
    void next() {
        count = 0;
        expected = UNKNOWN;
        bulk = UNKNOWN;
        position = 0;
        searched = 0;
        if (words.length > 64 * USUAL) {
            words = new int[2 * USUAL];
        }
    }

    private boolean readCount(int end) throws ProtocolError {
        int at = endOfLine(end, "too big mbulk count string");
        if (at < 0) {
            return false;
        }
        long number = Numbers.parse(bytes, begin + 1, at - 1);
        if (number == Numbers.NONE || number > MAX_WORDS) {
            throw new ProtocolError("invalid multibulk length");
        }
        expected = (int) Math.max(0, number);
        position = at + 2;
        searched = position;
        return true;
    }

    private boolean readBulkLength(int end) throws ProtocolError {
        if (begin + position == end) {
            return false;
        }
        byte first = bytes[begin + position];
        if (first != '$') {
            throw new ProtocolError("expected '$', got '" + printable(first) + "'");
        }
        int at = endOfLine(end, "too big bulk count string");
        if (at < 0) {
            return false;
        }
        long number = Numbers.parse(bytes, begin + position + 1, at - position - 1);
        if (number < 0 || number > MAX_BULK) {
            throw new ProtocolError("invalid bulk length");
        }
        bulk = (int) number;
        position = at + 2;
        return true;
    }

    private static char printable(byte b) {
        return b >= ' ' && b < 127 ? (char) b : '?';
    }

    /**
     * Returns where the line at the current position ends with CR and another byte, relative to the command's first
     * byte; −1 if the end has not arrived.
     */
    private int endOfLine(int end, String ifTooLong) throws ProtocolError {
        for (int i = begin + searched; i < end - 1; i++) {
            if (bytes[i] == '\r') {
                return i - begin;
            }
        }
        searched = Math.max(searched, end - 1 - begin);
        if (end - begin - position > MAX_LINE) {
            throw new ProtocolError(ifTooLong);
        }
        return -1;
    }

    // ---- A line of words ----

    private int readLine(int end) throws ProtocolError {
        int i = begin + searched;
        while (i < end && bytes[i] != '\n') {
            i++;
        }
        if (i - begin > MAX_LINE) {
            throw new ProtocolError("too big inline request");
        }
        if (i == end) {
            searched = i - begin;
            return 0;
        }
        split(i); // a CR before the end counts as a space
        return i + 1 - begin;
    }

    private void split(int end) throws ProtocolError {
        int i = begin;
        for (; ; ) {
            while (i < end && isSpace(bytes[i])) {
                i++;
            }
            if (i == end) {
                return;
            }
            int first = i;
            int written = i;
            while (i < end && !isSpace(bytes[i])) {
                byte b = bytes[i++];
                if (b == '"' || b == '\'') {
                    int[] closed = unquote(i, end, written, b);
                    i = closed[0];
                    written = closed[1];
                } else {
                    bytes[written++] = b;
                }
            }
            add(first - begin, written - first);
        }
    }

    /**
     * Replaces a quoted string by its content, which is never longer. Returns where to continue to read and to write.
     */
    private int[] unquote(int from, int end, int to, byte quote) throws ProtocolError {
        int written = to;
        for (int i = from; i < end; i++) {
            byte b = bytes[i];
            if (b == quote) {
                if (i + 1 < end && !isSpace(bytes[i + 1])) {
                    break;
                }
                return new int[] {i + 1, written};
            }
            if (b == '\\' && quote == '"' && isHex(i + 1, end)) {
                b = (byte) (Character.digit(bytes[i + 2], 16) << 4 | Character.digit(bytes[i + 3], 16));
                i += 3;
            } else if (b == '\\' && i + 1 < end && (quote == '"' || bytes[i + 1] == '\'')) {
                i++;
                b = quote == '"' ? unescape(bytes[i]) : bytes[i];
            }
            bytes[written++] = b;
        }
        throw new ProtocolError("unbalanced quotes in request");
    }

    /** Returns whether there is an x followed by two hexadecimal digits. */
    private boolean isHex(int at, int end) {
        return at + 2 < end
                && bytes[at] == 'x'
                && Character.digit(bytes[at + 1], 16) >= 0
                && Character.digit(bytes[at + 2], 16) >= 0;
    }

    private static byte unescape(byte b) {
        return switch (b) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> 7;
            default -> b;
        };
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || (b >= 9 && b <= 13);
    }

    private void add(int offset, int length) {
        if (2 * count == words.length) {
            words = Arrays.copyOf(words, 2 * words.length);
        }
        words[2 * count] = offset;
        words[2 * count + 1] = length;
        count++;
    }

    // ---- The words of the command that was read ----

    int count() {
        return count;
    }

    byte[] bytes() {
        return bytes;
    }

    int offset(int word) {
        return begin + words[2 * word];
    }

    int length(int word) {
        return words[2 * word + 1];
    }

    byte[] copy(int word) {
        return Arrays.copyOfRange(bytes, offset(word), offset(word) + length(word));
    }

    long number(int word) {
        return Numbers.parse(bytes, offset(word), length(word));
    }

    String text(int word) {
        return new String(bytes, offset(word), length(word), StandardCharsets.UTF_8);
    }

    /** Returns whether a word equals this one, ignoring case. */
    boolean is(int word, String upperCase) {
        int length = length(word);
        if (length != upperCase.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (upper(bytes[offset(word) + i]) != upperCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    static byte upper(byte b) {
        return b >= 'a' && b <= 'z' ? (byte) (b - 32) : b;
    }
}
