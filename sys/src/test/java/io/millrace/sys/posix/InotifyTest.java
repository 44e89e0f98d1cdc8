package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class InotifyTest {
    @TempDir
    Path directory;

    @Test
    void recordsAreWalkedThrough() throws Exception {
        Inotify inotify = Inotify.open();
        try {
            int watch = inotify.watch(directory, Inotify.CREATE | Inotify.MOVED_FROM | Inotify.MOVED_TO);
            assertThat(inotify.advance()).isFalse();
            // The longest name that there is, and a short one: both in one read.
            Path longest = Path.of("x".repeat(255));
            java.nio.file.Files.createFile(directory.resolve(longest));
            java.nio.file.Files.move(directory.resolve(longest), directory.resolve("b"));

            assertThat(inotify.advance()).isTrue();
            assertThat(inotify.watch()).isEqualTo(watch);
            assertThat(inotify.mask()).isEqualTo(Inotify.CREATE);
            assertThat(inotify.name()).isEqualTo(longest);
            assertThat(inotify.advance()).isTrue();
            assertThat(inotify.mask()).isEqualTo(Inotify.MOVED_FROM);
            int cookie = inotify.cookie();
            assertThat(inotify.advance()).isTrue();
            assertThat(inotify.mask()).isEqualTo(Inotify.MOVED_TO);
            assertThat(inotify.cookie()).isEqualTo(cookie).isNotZero();
            assertThat(inotify.name()).isEqualTo(Path.of("b"));
            assertThat(inotify.advance()).isFalse();

            inotify.unwatch(watch);
            assertThat(inotify.advance()).isTrue();
            assertThat(inotify.mask()).isEqualTo(Inotify.IGNORED);
            assertThat(inotify.name()).isNull();
            inotify.unwatch(watch); // has ended already
        } finally {
            inotify.descriptor().close();
        }
    }

    @Test
    void aPathThatIsNotThereIsRefused() throws Exception {
        Inotify inotify = Inotify.open();
        try {
            assertThatThrownBy(() -> inotify.watch(directory.resolve("missing"), Inotify.CREATE))
                    .isInstanceOfSatisfying(
                            ErrnoException.class,
                            e -> assertThat(e.is(Errno.ENOENT)).isTrue());
        } finally {
            inotify.descriptor().close();
        }
    }
}
