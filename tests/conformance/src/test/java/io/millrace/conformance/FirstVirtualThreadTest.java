package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.VirtualThreadReport;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A program that is on a virtual thread from its beginning")
class FirstVirtualThreadTest {
    @Test
    @DisplayName("vt-2 a virtual thread may be the first to ask whether virtual threads can run on loops")
    void mayAskFirst() {
        ChildJvm child = ChildJvm.run(AsksFirst.class, List.of("--add-opens", "java.base/java.lang=ALL-UNNAMED"));
        assertThat(child.output()).contains("on the loops");
        assertThat(child.exit()).isZero();
    }

    /** In a JVM of its own, because the answer is found once. */
    static final class AsksFirst {
        private AsksFirst() {}

        public static void main(String[] arguments) throws InterruptedException {
            Thread first = Thread.ofVirtual().start(() -> System.out.println(VirtualThreadReport.probe()));
            System.exit(first.join(Duration.ofSeconds(20)) ? 0 : 1); // it would never end by itself
        }
    }
}
