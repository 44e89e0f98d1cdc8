package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class NativePathsTest {
    @Test
    void aNameIsItsBytesInAnyLocale() {
        byte[] odd = {'a', ' ', '%', (byte) 0xff, (byte) 0xc3, (byte) 0xbc, '\n', '?', '#', '.'};

        Path name = NativePaths.name(odd);

        assertThat(NativePaths.bytes(Path.of("/tmp").resolve(name)))
                .startsWith("/tmp/".getBytes(StandardCharsets.US_ASCII))
                .endsWith(odd)
                .hasSize(5 + odd.length);
    }

    @Test
    void aPathIsAbsoluteAndEndsInNoSlash() {
        assertThat(ascii("/")).isEqualTo("/");
        assertThat(ascii("/tmp")).isEqualTo("/tmp");
        assertThat(ascii("x"))
                .isEqualTo(Path.of("x").toAbsolutePath().toString())
                .startsWith("/");
    }

    private static String ascii(String path) {
        return new String(NativePaths.bytes(Path.of(path)), StandardCharsets.US_ASCII);
    }

    @Test
    void aPathOfAnotherFileSystemIsRefused() {
        Path inside = Path.of(URI.create("jrt:/java.base/module-info.class"));

        assertThatThrownBy(() -> NativePaths.bytes(inside))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("default file system");
    }

    @Test
    void aZeroInsideATextIsRefused() {
        assertThat(NativePaths.text("abc", "an argument")).containsExactly('a', 'b', 'c');
        assertThatThrownBy(() -> NativePaths.text("a\0b", "an argument"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("an argument must not contain a zero character");
    }
}
