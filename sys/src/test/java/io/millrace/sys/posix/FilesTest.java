package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class FilesTest {
    private static final int ALWAYS = 02000000 | 0400 | 04000; // O_CLOEXEC, O_NOCTTY, O_NONBLOCK

    @TempDir
    Path directory;

    @Test
    void theOptionsAreTheKernelsFlags() {
        assertThat(flags()).isEqualTo(ALWAYS);
        assertThat(flags(StandardOpenOption.READ)).isEqualTo(ALWAYS);
        assertThat(flags(StandardOpenOption.WRITE)).isEqualTo(ALWAYS | 1);
        assertThat(flags(StandardOpenOption.READ, StandardOpenOption.WRITE)).isEqualTo(ALWAYS | 2);
        assertThat(flags(StandardOpenOption.APPEND)).isEqualTo(ALWAYS | 1 | 02000);
        assertThat(flags(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW))
                .isEqualTo(ALWAYS | 1 | 0100 | 0200);
        assertThat(flags(StandardOpenOption.READ, StandardOpenOption.CREATE))
                .as("means nothing without WRITE")
                .isEqualTo(ALWAYS);
        assertThat(flags(StandardOpenOption.WRITE, StandardOpenOption.SYNC)).isEqualTo(ALWAYS | 1 | 04010000);
        assertThatThrownBy(() -> flags(StandardOpenOption.APPEND, StandardOpenOption.TRUNCATE_EXISTING))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> flags(new OpenOption() {})).isInstanceOf(UnsupportedOperationException.class);
    }

    private static int flags(OpenOption... options) {
        return Files.flags(Set.of(options));
    }

    @Test
    void aFailureIsTheOneThatTheJdkWouldThrow() throws Exception {
        Path missing = directory.resolve("missing");
        assertThatThrownBy(() -> Files.open(missing, Set.of()))
                .isInstanceOf(NoSuchFileException.class)
                .hasRootCauseInstanceOf(ErrnoException.class);
        Path file = java.nio.file.Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> Files.open(file.resolve("below"), Set.of()))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("ENOTDIR");
        Path link = java.nio.file.Files.createSymbolicLink(directory.resolve("link"), file);
        assertThatThrownBy(() -> Files.open(link, Set.of(LinkOption.NOFOLLOW_LINKS)))
                .isInstanceOf(FileSystemException.class);
        Files.open(link, Set.of()).close();
    }

    @Test
    void aFileThatMayNotBeReadIsDenied() throws Exception {
        Path file = java.nio.file.Files.createFile(directory.resolve("file"));
        java.nio.file.Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        Assumptions.assumeFalse(java.nio.file.Files.isReadable(file), "root may read everything");

        assertThatThrownBy(() -> Files.open(file, Set.of())).isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void positionsAndSizes() throws Exception {
        Descriptor file = Files.open(
                directory.resolve("file"),
                Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE));
        CallState state = CallState.borrow();
        long memory = state.scratch();
        Posix.putLong(memory, 0x1122334455667788L);

        assertThat(Files.write(state, file.fd(), memory, 8, 4)).isEqualTo(8);
        assertThat(Files.size(file.fd())).isEqualTo(12);
        Posix.putLong(memory, 0);
        assertThat(Files.read(state, file.fd(), memory, 8, 4)).isEqualTo(8);
        assertThat(Posix.getLong(memory)).isEqualTo(0x1122334455667788L);
        assertThat(Files.read(state, file.fd(), memory, 8, 12)).isZero();
        Files.force(file.fd(), true);
        file.close();
    }
}
