package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import io.millrace.sys.posix.Pipes;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a poll on channels makes of a descriptor. */
@EnabledOnOs(OS.LINUX)
class FdSourceFamilyTest {
    @TempDir
    Path directory;

    @Test
    @DisplayName("tip-7: NIO refuses a descriptor when it is registered, and says what to do")
    void nioRefusesADescriptor() throws Exception {
        Pipes.Ends ends = Pipes.open();
        try (Rig rig = Rig.Backend.NIO.rig();
                FdSource source = FdSource.owned(ends.reader().fd())) {
            assertThatThrownBy(() -> rig.poll.register(source, 1, Interest.READABLE, Trigger.LEVEL))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the backend nio takes channels, not descriptors")
                    .hasMessageContaining("native backend");
            assertThat(source.tryRead(ByteBuffer.allocate(1)))
                    .as("and nothing happened to it")
                    .isEqualTo(Io.WOULD_BLOCK);
        } finally {
            ends.writer().close();
        }
    }

    @Test
    @DisplayName("tip-6: a regular file is ready on NIO too")
    void nioTakesARegularFile() throws Exception {
        Path path = Files.writeString(directory.resolve("a"), "water");
        RandomAccessFile[] file = new RandomAccessFile[1];
        int fd = ProcFs.opened(path.toString(), () -> file[0] = new RandomAccessFile(path.toFile(), "r"));
        try (RandomAccessFile opened = file[0];
                Rig rig = Rig.Backend.NIO.rig();
                FdSource source = FdSource.adopt(fd)) {
            rig.await(source, Interest.READABLE);

            assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(5);
            assertThat(opened.getFilePointer()).as("they share the open file").isEqualTo(5);
        }
    }
}
