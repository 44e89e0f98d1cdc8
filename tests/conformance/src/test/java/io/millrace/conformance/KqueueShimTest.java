package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.selector.KqueueShim;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KqueueShimTest {
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
