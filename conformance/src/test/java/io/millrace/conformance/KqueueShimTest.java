package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KqueueShimTest {
    @Test
    @DisplayName("the two copies of KqueueShim differ in their package and in nothing else")
    void theTwoCopiesAreOne() throws IOException {
        String here = Files.readString(Path.of("src/test/java/io/millrace/conformance/KqueueShim.java"));
        String there = Files.readString(Path.of("../sys/src/test/java/io/millrace/sys/KqueueShim.java"));

        assertThat(there).startsWith("package io.millrace.sys;\n");
        assertThat(there.replaceFirst("package io.millrace.sys;", "package io.millrace.conformance;"))
                .isEqualTo(here);
    }

    @Test
    @DisplayName("a library that -Dmillrace.kqueue.library names is the one that is tested")
    void aNamedLibraryStands() {
        String before = System.getProperty("millrace.kqueue.library");
        try {
            System.setProperty("millrace.kqueue.library", "named-by-the-user.so");

            assertThat(KqueueShim.install()).isTrue();

            assertThat(System.getProperty("millrace.kqueue.library")).isEqualTo("named-by-the-user.so");
        } finally {
            if (before == null) {
                System.clearProperty("millrace.kqueue.library");
            } else {
                System.setProperty("millrace.kqueue.library", before);
            }
        }
    }
}
