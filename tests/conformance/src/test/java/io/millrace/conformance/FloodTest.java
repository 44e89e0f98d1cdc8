package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("srv-1: eight threads flood a peer that does not read while its loop is blocked, with a small heap")
@Timeout(90)
class FloodTest {
    private static final long LIMIT = 1 << 20;

    @ParameterizedTest
    @CsvSource({
        "LOOP,send,65536",
        "LOOP,send,1",
        "LOOP,broadcast,65536",
        "LOOP,broadcast,1",
        "POOL,send,65536",
        "VIRTUAL,send,65536",
        "VIRTUAL,broadcast,65536"
    })
    @DisplayName("the connection ends with the reason, and holds no more than the limit and a message for each thread")
    void bounded(String dispatch, String call, int size) {
        ChildJvm child = ChildJvm.run(
                FloodMain.class,
                List.of("-Xmx32m", "--enable-native-access=ALL-UNNAMED"),
                dispatch,
                call,
                Integer.toString(size));
        assertThat(child.output()).doesNotContain("OutOfMemoryError");
        assertThat(child.exit()).as(child.output()).isZero();
        Matcher matcher = Pattern.compile("taken (\\d+) queued (\\d+) error (.*) left (\\d+)")
                .matcher(child.output());
        assertThat(matcher.find()).as(child.output()).isTrue();
        long taken = Long.parseLong(matcher.group(1));
        assertThat(taken * size).isLessThanOrEqualTo(LIMIT + 8L * size);
        assertThat(Long.parseLong(matcher.group(2))).isEqualTo(taken * size);
        // A message costs more than its bytes, so that small ones cannot fill the heap either.
        assertThat(taken).isBetween(LIMIT / (size + 200), LIMIT / size + 8);
        assertThat(matcher.group(3)).contains("more than the limit of " + LIMIT);
        assertThat(matcher.group(4)).isEqualTo("0");
    }
}
