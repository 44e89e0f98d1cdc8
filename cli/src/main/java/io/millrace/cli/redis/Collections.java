package io.millrace.cli.redis;

import io.millrace.cli.redis.Commands.CommandError;
import io.millrace.cli.redis.Keyspace.Entry;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The commands for lists, sets and hashes. An empty collection is removed. Used under the keyspace's lock. */
final class Collections {
    private final Keyspace keys;
    private final Bytes view = Bytes.view();

    Collections(Keyspace keys) {
        this.keys = keys;
    }

    private static int size(@Nullable Collection<?> all) {
        return all == null ? 0 : all.size();
    }

    @SuppressWarnings("unchecked") // the lists here are of byte arrays
    private @Nullable ArrayDeque<byte[]> list(CommandParser words) throws CommandError {
        Entry entry = keys.find(words, 1);
        if (entry != null && !(entry.value instanceof ArrayDeque)) {
            throw new CommandError(Commands.WRONG_TYPE);
        }
        return entry == null ? null : (ArrayDeque<byte[]>) entry.value;
    }

    @SuppressWarnings("unchecked") // the sets here are of Bytes
    private @Nullable Set<Bytes> members(CommandParser words) throws CommandError {
        Entry entry = keys.find(words, 1);
        if (entry != null && !(entry.value instanceof HashSet)) {
            throw new CommandError(Commands.WRONG_TYPE);
        }
        return entry == null ? null : (Set<Bytes>) entry.value;
    }

    @SuppressWarnings("unchecked") // the hashes here are of Bytes and byte arrays
    private @Nullable Map<Bytes, byte[]> fields(CommandParser words) throws CommandError {
        Entry entry = keys.find(words, 1);
        if (entry != null && !(entry.value instanceof HashMap)) {
            throw new CommandError(Commands.WRONG_TYPE);
        }
        return entry == null ? null : (Map<Bytes, byte[]>) entry.value;
    }

    private void removeIf(boolean empty, CommandParser words) {
        Entry entry = empty ? keys.find(words, 1) : null;
        if (entry != null) {
            keys.remove(entry);
        }
    }

    private Bytes at(CommandParser words, int word) {
        return view.at(words.bytes(), words.offset(word), words.length(word));
    }

    void llen(CommandParser words, Reply reply) throws CommandError {
        reply.integer(size(list(words)));
    }

    void push(CommandParser words, boolean left, Reply reply) throws CommandError {
        ArrayDeque<byte[]> list = list(words);
        if (list == null) {
            list = new ArrayDeque<>(4);
            keys.add(words, 1, list);
        }
        for (int i = 2; i < words.count(); i++) {
            if (left) {
                list.addFirst(words.copy(i));
            } else {
                list.addLast(words.copy(i));
            }
        }
        reply.integer(list.size());
    }

    void pop(CommandParser words, boolean left, Reply reply) throws CommandError {
        if (words.count() > 3) {
            throw new CommandError(Commands.SYNTAX);
        }
        boolean counted = words.count() == 3;
        long most = counted ? Commands.number(words, 2) : 1;
        if (most < 0) {
            throw new CommandError("ERR value is out of range, must be positive");
        }
        ArrayDeque<byte[]> list = list(words);
        if (list == null) {
            if (counted) {
                reply.nilArray();
            } else {
                reply.nil();
            }
            return;
        }
        int count = (int) Math.min(most, list.size());
        if (counted) {
            reply.array(count);
        }
        for (int i = 0; i < count; i++) {
            reply.bulk(left ? list.removeFirst() : list.removeLast());
        }
        removeIf(list.isEmpty(), words);
    }

    void range(CommandParser words, Reply reply) throws CommandError {
        long from = Commands.number(words, 2);
        long to = Commands.number(words, 3);
        ArrayDeque<byte[]> list = list(words);
        int size = size(list);
        from = Math.max(0, from < 0 ? from + size : from);
        to = Math.min(size - 1L, to < 0 ? to + size : to);
        if (list == null || from > to) {
            reply.array(0);
            return;
        }
        reply.array((int) (to - from + 1));
        Iterator<byte[]> items = list.iterator();
        for (long i = 0; i <= to; i++) {
            byte[] item = items.next();
            if (i >= from) {
                reply.bulk(item);
            }
        }
    }

    void scard(CommandParser words, Reply reply) throws CommandError {
        reply.integer(size(members(words)));
    }

    void sadd(CommandParser words, Reply reply) throws CommandError {
        Set<Bytes> members = members(words);
        if (members == null) {
            members = new HashSet<>(4);
            keys.add(words, 1, members);
        }
        int added = 0;
        for (int i = 2; i < words.count(); i++) {
            if (!members.contains(at(words, i))) {
                members.add(view.copy());
                added++;
            }
        }
        reply.integer(added);
    }

    void srem(CommandParser words, Reply reply) throws CommandError {
        Set<Bytes> members = members(words);
        int removed = 0;
        for (int i = 2; members != null && i < words.count(); i++) {
            removed += members.remove(at(words, i)) ? 1 : 0;
        }
        removeIf(members != null && members.isEmpty(), words);
        reply.integer(removed);
    }

    void sismember(CommandParser words, Reply reply) throws CommandError {
        Set<Bytes> members = members(words);
        reply.integer(members != null && members.contains(at(words, 2)) ? 1 : 0);
    }

    void smembers(CommandParser words, Reply reply) throws CommandError {
        Set<Bytes> members = members(words);
        reply.array(size(members));
        if (members != null) {
            members.forEach(member -> reply.bulk(member.array()));
        }
    }

    void hset(CommandParser words, Reply reply) throws CommandError {
        if (words.count() % 2 != 0) {
            throw new CommandError("ERR wrong number of arguments for 'hset' command");
        }
        Map<Bytes, byte[]> fields = fields(words);
        if (fields == null) {
            fields = new HashMap<>(4);
            keys.add(words, 1, fields);
        }
        int added = 0;
        for (int i = 2; i < words.count(); i += 2) {
            byte[] value = words.copy(i + 1);
            if (fields.replace(at(words, i), value) == null) {
                fields.put(view.copy(), value);
                added++;
            }
        }
        reply.integer(added);
    }

    void hget(CommandParser words, Reply reply) throws CommandError {
        Map<Bytes, byte[]> fields = fields(words);
        byte[] value = fields == null ? null : fields.get(at(words, 2));
        if (value == null) {
            reply.nil();
        } else {
            reply.bulk(value);
        }
    }

    void hdel(CommandParser words, Reply reply) throws CommandError {
        Map<Bytes, byte[]> fields = fields(words);
        int removed = 0;
        for (int i = 2; fields != null && i < words.count(); i++) {
            removed += fields.remove(at(words, i)) != null ? 1 : 0;
        }
        removeIf(fields != null && fields.isEmpty(), words);
        reply.integer(removed);
    }

    void hlen(CommandParser words, Reply reply) throws CommandError {
        Map<Bytes, byte[]> fields = fields(words);
        reply.integer(fields == null ? 0 : fields.size());
    }

    void hgetall(CommandParser words, Reply reply) throws CommandError {
        Map<Bytes, byte[]> fields = fields(words);
        reply.array(fields == null ? 0 : 2 * fields.size());
        if (fields != null) {
            fields.forEach((field, value) -> {
                reply.bulk(field.array());
                reply.bulk(value);
            });
        }
    }
}
