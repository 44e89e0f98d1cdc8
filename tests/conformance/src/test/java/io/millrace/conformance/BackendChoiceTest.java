package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.poll.BackendReport;
import io.millrace.poll.Poll;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which backend is taken, who may say so, and what the report tells. */
@DisplayName("Choice of the backend")
class BackendChoiceTest {
    private static final String PROPERTY = "millrace.backend";
    private static final List<String> NATIVE = List.of("--enable-native-access=ALL-UNNAMED");

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("tip-1, mr-5: Linux has epoll, and nothing was passed over for it")
    void theBestIsTaken() {
        assumeThat(System.getProperty(PROPERTY)).isNull();
        BackendReport report = BackendReport.probe();
        assertThat(report.chosen()).isEqualTo("epoll");
        assertThat(report.reason()).contains("best");
        assertThat(report.passedOver()).isEmpty();
        assertThat(report.toString()).startsWith("using epoll");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio", ChaosProvider.NAME})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mr-5, tip-2: the builder forces any backend, also one from outside the library")
    void theBuilderForces(String name) {
        try (Poll poll = Poll.builder().backend(name).open()) {
            assertThat(poll.backend()).isEqualTo(name);
            assertThat(poll.report().chosen()).isEqualTo(name);
            assertThat(poll.report().reason()).contains("asked for by the builder");
            assertThat(poll.report().passedOver()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio", ChaosProvider.NAME})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mr-5: so does the property, and the builder is stronger")
    void thePropertyForces(String name) {
        String before = System.getProperty(PROPERTY);
        System.setProperty(PROPERTY, name);
        try (Poll forced = Poll.open();
                Poll stronger = Poll.builder().backend("nio").open()) {
            assertThat(forced.backend()).isEqualTo(name);
            assertThat(forced.report().reason()).contains("-D" + PROPERTY);
            assertThat(stronger.backend()).isEqualTo("nio");
        } finally {
            if (before == null) {
                System.clearProperty(PROPERTY);
            } else {
                System.setProperty(PROPERTY, before);
            }
        }
    }

    @Test
    @DisplayName("mr-5: a name that nobody has lists those that there are")
    void anUnknownName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Poll.builder().backend("iocp").open())
                .withMessageContaining("iocp")
                .withMessageContaining("the builder")
                .withMessageContainingAll("epoll", "kqueue", "poll", "nio", ChaosProvider.NAME);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mr-5: a forced backend that cannot open fails with reason and remedy; no other is taken")
    void aForcedBackendThatCannotOpen() {
        ChildJvm child = ChildJvm.run(
                TellBackend.class, List.of("--enable-native-access=ALL-UNNAMED", "-D" + PROPERTY + "=kqueue"));
        assertThat(child.output())
                .contains("IllegalStateException: cannot open backend kqueue, asked for by -Dmillrace.backend")
                .contains("kqueue on Linux")
                .contains("millrace.kqueue.library")
                .doesNotContain("found");
    }

    @Test
    @DisplayName("mr-5: without native access it is NIO, and the report says why and what to do")
    void nativeAccessDenied() {
        ChildJvm child = ChildJvm.run(TellBackend.class, List.of("--illegal-native-access=deny"));
        assertThat(child.output())
                .startsWith("using nio")
                .contains("not epoll: native access is denied")
                .contains("not poll: native access is denied")
                .contains("--enable-native-access=ALL-UNNAMED")
                .contains("found 1");
    }

    @Test
    @DisplayName("mr-5: without native access a forced epoll fails with the remedy")
    void nativeAccessDeniedAndForced() {
        ChildJvm child =
                ChildJvm.run(TellBackend.class, List.of("--illegal-native-access=deny", "-D" + PROPERTY + "=epoll"));
        assertThat(child.output())
                .contains("IllegalStateException: cannot open backend epoll")
                .contains("native access is denied")
                .contains("--enable-native-access=ALL-UNNAMED")
                .doesNotContain("found");
    }

    @Test
    @DisplayName("tip-11, mr-5: where seccomp denies epoll_pwait2 it is epoll all the same, in milliseconds")
    void seccompDeniesNanoseconds() {
        assumeThat(EpollDenied.isPossible())
                .as("a machine whose system call numbers we know")
                .isTrue();
        ChildJvm child = ChildJvm.run(TellBackend.class, NATIVE, TellBackend.DENY_NANOSECONDS);
        assertThat(child.output()).startsWith("using epoll").contains("found 1");
    }

    @Test
    @DisplayName("mr-5: where seccomp denies epoll it is poll(2), and the report names EPERM")
    void seccompDeniesEpoll() {
        assumeThat(EpollDenied.isPossible())
                .as("a machine whose system call numbers we know")
                .isTrue();
        ChildJvm child = ChildJvm.run(TellBackend.class, NATIVE, TellBackend.DENY_EPOLL);
        assertThat(child.output())
                .startsWith("using poll")
                .contains("not epoll: cannot open epoll: epoll_create1 failed: EPERM")
                .contains("seccomp")
                .contains("linear")
                .contains("found 1");
    }

    @Test
    @DisplayName("mr-5: where seccomp denies epoll, a forced epoll fails and names EPERM")
    void seccompDeniesForcedEpoll() {
        assumeThat(EpollDenied.isPossible())
                .as("a machine whose system call numbers we know")
                .isTrue();
        ChildJvm child = ChildJvm.run(
                TellBackend.class,
                List.of("--enable-native-access=ALL-UNNAMED", "-D" + PROPERTY + "=epoll"),
                TellBackend.DENY_EPOLL);
        assertThat(child.output())
                .contains("IllegalStateException: cannot open backend epoll")
                .contains("EPERM")
                .doesNotContain("found");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mr-5: with native access granted no warning is printed")
    void noWarning() {
        ChildJvm child = ChildJvm.run(TellBackend.class, NATIVE);
        assertThat(child.exit()).isZero();
        assertThat(child.output()).isEqualTo("using epoll (the best that opens here)\nfound 1\n");
    }

    @Test
    @DisplayName("mr-5: the report tells what to know of each backend")
    void remarks() {
        try (Poll poll = Poll.builder().backend("poll").open();
                Poll nio = Poll.builder().backend("nio").open()) {
            assertThat(poll.report().remark()).contains("linear");
            assertThat(nio.report().remark()).contains("sockets only");
        }
    }
}
