package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A reply")
class ReplyTest {
    private static String text(Reply reply) {
        return ISO_8859_1.decode(reply.buffer()).toString();
    }

    @Test
    @DisplayName("makes room for whatever is written, however full it is")
    void room() {
        Map<String, Consumer<Reply>> writes = new LinkedHashMap<>();
        writes.put("+OK\r\n", Reply::ok);
        writes.put("$-1\r\n", Reply::nil);
        writes.put("*-1\r\n", Reply::nilArray);
        writes.put(":-9223372036854775807\r\n", reply -> reply.integer(-Long.MAX_VALUE));
        writes.put("*2147483647\r\n", reply -> reply.array(Integer.MAX_VALUE));
        writes.put("$3\r\nabc\r\n", reply -> reply.bulk("abc"));
        writes.put("$60000\r\n" + "x".repeat(60_000) + "\r\n", reply -> reply.bulk("x".repeat(60_000)));
        writes.put("-a b\r\n", reply -> reply.error("a\nb"));
        for (int size = (16 << 10) - 40; size <= 16 << 10; size++) {
            String before = ".".repeat(size);
            for (Map.Entry<String, Consumer<Reply>> write : writes.entrySet()) {
                Reply reply = new Reply();
                reply.raw(Reply.ascii(before));
                write.getValue().accept(reply);
                assertThat(text(reply)).isEqualTo(before + write.getKey());
            }
        }
    }

    @Test
    @DisplayName("is empty again, and takes back what was written behind a place")
    void takesBack() {
        Reply reply = new Reply();
        reply.ok();
        int before = reply.size();
        reply.array(3);
        reply.truncate(before);
        assertThat(text(reply)).isEqualTo("+OK\r\n");
        reply.clear();
        assertThat(reply.size()).isZero();
        reply.bulk("x".repeat(2 << 20));
        reply.clear();
        reply.nil();
        assertThat(text(reply)).isEqualTo("$-1\r\n");
    }
}
