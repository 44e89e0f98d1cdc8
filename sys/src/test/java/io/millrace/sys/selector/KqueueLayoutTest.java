package io.millrace.sys.selector;

import static io.millrace.sys.selector.KqueueLayout.FREEBSD;
import static io.millrace.sys.selector.KqueueLayout.LIBKQUEUE;
import static io.millrace.sys.selector.KqueueLayout.MACOS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.KernelKey;
import io.millrace.sys.call.Os;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code struct kevent} byte by byte, little endian, against the documented layouts: {@code <sys/event.h>} of macOS, of FreeBSD 12
 * and newer, and of libkqueue. The expected bytes are written by hand.
 */
@DisplayName("tip-1: the layouts of struct kevent")
class KqueueLayoutTest {
    /** ident, filter −2, flags 0x8061, fflags, data, udata. */
    private static final String COMMON = "88 77 66 55 44 33 22 11" + "fe ff" + "61 80" + "d4 c3 b2 a1"
            + "00 00 00 00 00 00 00 00" + "f8 e7 d6 c5 b4 a3 92 81";

    private static final String EXT = "00 00 00 00 00 00 00 00".repeat(4);
    /** What lies behind the struct, and what was in it before. */
    private static final byte JUNK = (byte) 0xee;

    @Test
    void macosWrites32Bytes() {
        assertThat(written(MACOS)).isEqualTo(bytes(COMMON, 32));
    }

    @Test
    void freebsdWrites64BytesAndClearsTheExtensions() {
        assertThat(written(FREEBSD)).isEqualTo(bytes(COMMON + EXT, 64));
    }

    @Test
    void libkqueueWritesTheBytesOfMacos() {
        assertThat(written(LIBKQUEUE)).isEqualTo(bytes(COMMON, 32));
    }

    /** As EV_SET(&kev, 0, EVFILT_USER, EV_ADD | EV_CLEAR, NOTE_TRIGGER, 0, (void *) 0x04000000) leaves it. */
    @ParameterizedTest
    @CsvSource({"MACOS, f6 ff", "FREEBSD, f5 ff", "LIBKQUEUE, f5 ff"})
    void theFilterForUserEventsDiffers(KqueueLayout layout, String filter) {
        String expected = "00 00 00 00 00 00 00 00" + filter + "21 00" + "00 00 00 01" + "00 00 00 00 00 00 00 00"
                + "00 00 00 04 00 00 00 00" + (layout == FREEBSD ? EXT : "");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = junk(arena);
            layout.put(
                    memory.address(),
                    0,
                    layout.userFilter,
                    KqueueLayout.EV_ADD | KqueueLayout.EV_CLEAR,
                    KqueueLayout.NOTE_TRIGGER,
                    KernelKey.WAKE);
            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes(expected, layout.bytes));
        }
    }

    @Test
    void everyFieldIsReadFromItsPlace() {
        String kevent = "07 00 00 00 00 00 00 00" + "ff ff" + "80 80" + "36 00 00 80" + "ef cd ab 89 67 45 23 f1"
                + "05 00 00 00 02 00 00 80";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = junk(arena);
            memory.copyFrom(MemorySegment.ofArray(bytes(kevent, 32)));
            long address = memory.address();
            assertThat(KqueueLayout.ident(address)).isEqualTo(7);
            assertThat(KqueueLayout.filter(address)).isEqualTo(KqueueLayout.EVFILT_READ);
            assertThat(KqueueLayout.flags(address)).isEqualTo(KqueueLayout.EV_EOF | KqueueLayout.EV_DISPATCH);
            assertThat(KqueueLayout.fflags(address)).isEqualTo(0x8000_0036);
            assertThat(KqueueLayout.data(address)).isEqualTo(0xf123_4567_89ab_cdefL);
            assertThat(KqueueLayout.udata(address)).isEqualTo(KernelKey.of(0x8000_0002, 5));
        }
    }

    @Test
    void theConstantsAreThoseOfTheHeaders() {
        assertThat(KqueueLayout.EVFILT_READ).isEqualTo((short) -1);
        assertThat(KqueueLayout.EVFILT_WRITE).isEqualTo((short) -2);
        assertThat(KqueueLayout.EV_ADD).isEqualTo(0x1);
        assertThat(KqueueLayout.EV_DELETE).isEqualTo(0x2);
        assertThat(KqueueLayout.EV_CLEAR).isEqualTo(0x20);
        assertThat(KqueueLayout.EV_RECEIPT).isEqualTo(0x40);
        assertThat(KqueueLayout.EV_DISPATCH).isEqualTo(0x80);
        assertThat(KqueueLayout.EV_ERROR).isEqualTo(0x4000);
        assertThat(KqueueLayout.EV_EOF).isEqualTo(0x8000);
        assertThat(KqueueLayout.NOTE_TRIGGER).isEqualTo(0x01000000);
    }

    @ParameterizedTest
    @CsvSource({"macos, MACOS, 32, -10", "freebsd, FREEBSD, 64, -11", "libkqueue, LIBKQUEUE, 32, -11"})
    void aFlavorIsFoundByItsName(String flavor, KqueueLayout layout, int bytes, short userFilter) {
        assertThat(KqueueLayout.of(flavor)).isSameAs(layout);
        assertThat(layout.flavor()).isEqualTo(flavor);
        assertThat(layout.bytes).isEqualTo(bytes);
        assertThat(layout.userFilter).isEqualTo(userFilter);
    }

    @Test
    void anUnknownFlavorIsRefusedByName() {
        assertThatThrownBy(() -> KqueueLayout.of("netbsd"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no kqueue flavor netbsd; there are macos, freebsd, libkqueue");
    }

    @Test
    void withoutAFlavorItIsTheSystemsOwn() {
        KqueueLayout expected = switch (Os.current()) {
            case MACOS -> MACOS;
            case FREEBSD -> FREEBSD;
            default -> LIBKQUEUE;
        };
        assertThat(KqueueLayout.of(null)).isSameAs(expected);
    }

    private static byte[] written(KqueueLayout layout) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = junk(arena);
            layout.put(
                    memory.address(),
                    0x1122_3344_5566_7788L,
                    KqueueLayout.EVFILT_WRITE,
                    0x8061,
                    0xa1b2_c3d4,
                    0x8192_a3b4_c5d6_e7f8L);
            return memory.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static MemorySegment junk(Arena arena) {
        return arena.allocate(80, 8).fill(JUNK);
    }

    /** The bytes given, which must be so many, and junk up to 80. */
    private static byte[] bytes(String hex, int count) {
        byte[] given = HexFormat.of().parseHex(hex.replace(" ", ""));
        assertThat(given).hasSize(count);
        byte[] all = Arrays.copyOf(given, 80);
        Arrays.fill(all, count, all.length, JUNK);
        return all;
    }
}
