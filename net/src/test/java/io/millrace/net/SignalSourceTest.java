package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
@DisabledOnOs(OS.WINDOWS)
class SignalSourceTest {
    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    @DisplayName("mr-6: signals from another process are events, and do what they did before once the source is closed")
    void signalsFromOutside() throws Exception {
        String name = backend.name().toLowerCase(Locale.ROOT);
        try (ChildJvm child = ChildJvm.start(SignalChild.class, List.of(), name)) {
            assertThat(child.line()).isEqualTo("listening");
            for (String signal : List.of("HUP", "TERM", "INT", "TERM", "USR1")) {
                child.kill(signal);
                assertThat(child.line()).isEqualTo(signal);
            }
            assertThat(child.line()).isEqualTo("let go");
            child.kill("TERM");
            assertThat(child.exit()).as("the JVM's own answer to TERM").isEqualTo(128 + 15);
        }
    }

    @Test
    @DisplayName("mr-6: a signal that the JVM was told to leave alone is refused with the reason")
    void aJvmThatLeavesSignalsAloneIsTold() throws Exception {
        String name = backend.name().toLowerCase(Locale.ROOT);
        try (ChildJvm child = ChildJvm.start(SignalChild.class, List.of("-Xrs"), name)) {
            assertThat(child.line()).startsWith("cannot listen to SIGINT").contains("-Xrs");
            assertThat(child.exit()).isZero();
        }
    }

    @Test
    void aSignalIsTakenOnceHoweverOftenItCame() throws Exception {
        SignalSource source = rig.keep(SignalSource.of("USR1", "WINCH"));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        assertThat(rig.reports(Duration.ZERO)).isFalse();
        assertThat(source.poll()).isNull();
        for (int sent = 1; sent <= 3; sent++) {
            kill("USR1");
            awaitCount(source, "USR1", sent);
        }
        kill("WINCH");
        awaitCount(source, "SIGWINCH", 1);

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(source.poll()).isEqualTo("USR1");
        assertThat(rig.reports(Duration.ZERO)).as("one is left").isTrue();
        assertThat(source.poll()).isEqualTo("WINCH");
        assertThat(rig.reports(Duration.ZERO)).isFalse();
        assertThat(source.poll()).isNull();
        kill("USR1");
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(source.poll()).isEqualTo("USR1");
        assertThat(source.count("USR1")).isEqualTo(4);
    }

    @Test
    void severalSourcesOfOneSignalAreEachToldInWhateverOrderTheyClose() throws Exception {
        SignalSource first = rig.keep(SignalSource.of("USR1"));
        SignalSource second = rig.keep(SignalSource.of("USR1"));
        kill("USR1");
        rig.await(first, Interest.READABLE);
        rig.await(second, Interest.READABLE);
        assertThat(first.poll()).isEqualTo("USR1");
        assertThat(second.poll()).isEqualTo("USR1");

        first.close();
        first.close();
        kill("USR1");
        rig.await(second, Interest.READABLE);

        assertThat(second.poll()).isEqualTo("USR1");
        assertThat(first.poll()).isNull();
        assertThat(first.count("USR1")).isEqualTo(1);
    }

    @Test
    void whatTheJvmOrTheKernelNeedsIsRefused() {
        for (String name :
                List.of("QUIT", "SEGV", "BUS", "FPE", "ILL", "TRAP", "ABRT", "PIPE", "XFSZ", "KILL", "STOP")) {
            assertThatThrownBy(() -> SignalSource.of("USR1", "SIG" + name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageMatching("cannot listen to SIG" + name + ": the (JVM|kernel) .*; choose another one");
        }
        assertThatThrownBy(() -> SignalSource.of("USR1", "NONSENSE"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("there is no signal NONSENSE");
        assertThatThrownBy(SignalSource::of).isInstanceOf(IllegalArgumentException.class);
        SignalSource source = rig.keep(SignalSource.of("USR1"));
        assertThatThrownBy(() -> source.count("HUP"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SignalSource of USR1 does not listen to HUP");
    }

    private static void kill(String signal) throws Exception {
        long self = ProcessHandle.current().pid();
        assertThat(new ProcessBuilder("sh", "-c", "kill -" + signal + " " + self)
                        .start()
                        .waitFor())
                .isZero();
    }

    private static void awaitCount(SignalSource source, String name, long count) {
        long deadline = System.nanoTime() + Rig.DEADLINE.toNanos();
        while (source.count(name) < count) {
            assertThat(System.nanoTime() - deadline)
                    .as("the signal did not come")
                    .isNegative();
            Thread.onSpinWait();
        }
        assertThat(source.count(name)).isEqualTo(count);
    }
}
