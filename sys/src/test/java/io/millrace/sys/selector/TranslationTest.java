package io.millrace.sys.selector;

import static io.millrace.sys.Bits.EDGE;
import static io.millrace.sys.Bits.ERROR;
import static io.millrace.sys.Bits.LEVEL;
import static io.millrace.sys.Bits.ONESHOT;
import static io.millrace.sys.Bits.PRIORITY;
import static io.millrace.sys.Bits.READABLE;
import static io.millrace.sys.Bits.READ_CLOSED;
import static io.millrace.sys.Bits.WRITABLE;
import static io.millrace.sys.Bits.WRITE_CLOSED;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.Bits;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.nio.channels.SelectionKey;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From the kernel's words to ours and back, as tables. The numbers are those of Linux's headers. */
@DisplayName("Translation of events")
class TranslationTest {
    private static final int HANG_UP = READABLE | READ_CLOSED | WRITE_CLOSED;
    private static final int FAILURE = READABLE | WRITABLE | ERROR;

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        IN              | 0x0001 | READABLE
        PRI             | 0x0002 | PRIORITY
        OUT             | 0x0004 | WRITABLE
        ERR             | 0x0008 | READABLE WRITABLE ERROR
        HUP             | 0x0010 | READABLE READ_CLOSED WRITE_CLOSED
        RDHUP           | 0x2000 | READABLE READ_CLOSED
        IN RDHUP        | 0x2001 | READABLE READ_CLOSED
        IN OUT          | 0x0005 | READABLE WRITABLE
        OUT HUP         | 0x0014 | READABLE WRITABLE READ_CLOSED WRITE_CLOSED
        ERR HUP         | 0x0018 | READABLE WRITABLE ERROR READ_CLOSED WRITE_CLOSED
        all of a reset  | 0x201d | READABLE WRITABLE ERROR READ_CLOSED WRITE_CLOSED
        nothing         | 0x0000 | NONE
        unknown bits    | 0x0400 | NONE
        """)
    @DisplayName("tip-10: epoll and poll(2) translate alike: hang-up is readable, an error reaches every direction")
    void kernelToBits(String name, String mask, String expected) {
        int kernel = Integer.decode(mask);
        assertThat(names(EpollSelector.translate(kernel))).as("epoll " + name).isEqualTo(expected.strip());
        assertThat(names(PollSelector.translate((short) kernel)))
                .as("poll " + name)
                .isEqualTo(expected.strip());
    }

    @Test
    @DisplayName("tip-10: a descriptor that poll(2) finds invalid is an error in every direction")
    void invalid() {
        assertThat(PollSelector.translate(Posix.POLLNVAL)).isEqualTo(FAILURE);
    }

    @Test
    @DisplayName("tip-10: NIO's ready set has the two directions; accept is readable, connect is writable")
    void nioToBits() {
        assertThat(NioSelector.translate(0)).isZero();
        assertThat(NioSelector.translate(SelectionKey.OP_READ)).isEqualTo(READABLE);
        assertThat(NioSelector.translate(SelectionKey.OP_ACCEPT)).isEqualTo(READABLE);
        assertThat(NioSelector.translate(SelectionKey.OP_WRITE)).isEqualTo(WRITABLE);
        assertThat(NioSelector.translate(SelectionKey.OP_CONNECT)).isEqualTo(WRITABLE);
        assertThat(NioSelector.translate(SelectionKey.OP_READ | SelectionKey.OP_WRITE))
                .isEqualTo(READABLE | WRITABLE);
    }

    @ParameterizedTest(name = "{0} by {1}")
    @CsvSource({
        "READABLE,          LEVEL,   0x00002001",
        "WRITABLE,          LEVEL,   0x00000004",
        "PRIORITY,          LEVEL,   0x00000002",
        "READABLE WRITABLE, LEVEL,   0x00002005",
        "READABLE,          EDGE,    0x80002001",
        "READABLE WRITABLE, EDGE,    0x80002005",
        "READABLE,          ONESHOT, 0xc0002001",
        "NONE,              LEVEL,   0x80000000",
        "NONE,              EDGE,    0x80000000",
        "NONE,              ONESHOT, 0x80000000"
    })
    @DisplayName(
            "mio-29: what epoll is asked for; nothing at all is an edge, because the kernel reports hang-up even so")
    void interestToEpoll(String interest, String trigger, String expected) {
        int code = switch (trigger) {
            case "LEVEL" -> LEVEL;
            case "EDGE" -> EDGE;
            default -> ONESHOT;
        };
        assertThat(EpollSelector.mask(bits(interest), code))
                .isEqualTo(Long.decode(expected).intValue());
    }

    @Test
    @DisplayName("tip-10: what poll(2) is asked for")
    void interestToPoll() {
        short readHangUp = Os.current() == Os.LINUX ? Posix.POLLRDHUP : 0;
        assertThat(PollSelector.mask(0)).isZero();
        assertThat(PollSelector.mask(READABLE)).isEqualTo((short) (Posix.POLLIN | readHangUp));
        assertThat(PollSelector.mask(WRITABLE)).isEqualTo(Posix.POLLOUT);
        assertThat(PollSelector.mask(PRIORITY)).isEqualTo(Posix.POLLPRI);
        assertThat(PollSelector.mask(READABLE | WRITABLE))
                .isEqualTo((short) (Posix.POLLIN | readHangUp | Posix.POLLOUT));
    }

    @Test
    @DisplayName("tip-10, mio-9: what of a readiness an interest may see")
    void visible() {
        assertThat(Bits.visible(READABLE | WRITABLE, READABLE)).isEqualTo(READABLE);
        assertThat(Bits.visible(WRITABLE, READABLE)).isZero();
        assertThat(Bits.visible(HANG_UP, READABLE)).isEqualTo(READABLE | READ_CLOSED);
        assertThat(Bits.visible(HANG_UP, WRITABLE)).isEqualTo(WRITE_CLOSED);
        assertThat(Bits.visible(HANG_UP, PRIORITY)).isZero();
        assertThat(Bits.visible(FAILURE, READABLE)).isEqualTo(READABLE | ERROR);
        assertThat(Bits.visible(FAILURE, WRITABLE)).isEqualTo(WRITABLE | ERROR);
        assertThat(Bits.visible(ERROR, READABLE | WRITABLE))
                .as("an error alone reaches both")
                .isEqualTo(READABLE | WRITABLE | ERROR);
        assertThat(Bits.visible(Bits.ALL, 0))
                .as("an empty interest sees nothing")
                .isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "-1, -1", // for ever
        "0, 0",
        "1, 1",
        "999999, 1",
        "1000000, 1",
        "1000001, 2",
        "1999999, 2",
        "9223372036854775807, 2147483647" // as long as an int can say; the caller waits again
    })
    @DisplayName("tip-11: milliseconds are rounded up")
    void milliseconds(long nanos, int expected) {
        assertThat(Millis.ceil(nanos)).isEqualTo(expected);
    }

    private static final String[] NAMES = {"READABLE", "WRITABLE", "PRIORITY", "ERROR", "READ_CLOSED", "WRITE_CLOSED"};

    private static String names(int bits) {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < NAMES.length; i++) {
            if ((bits & 1 << i) != 0) {
                names.append(names.isEmpty() ? "" : " ").append(NAMES[i]);
            }
        }
        return names.isEmpty() ? "NONE" : names.toString();
    }

    private static int bits(String names) {
        int bits = 0;
        for (int i = 0; i < NAMES.length; i++) {
            if (java.util.List.of(names.split(" ")).contains(NAMES[i])) {
                bits |= 1 << i;
            }
        }
        return bits;
    }
}
