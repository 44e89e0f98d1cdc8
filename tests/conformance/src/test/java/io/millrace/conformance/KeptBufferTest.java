package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("-Dmillrace.debug=buffers finds handlers that keep the buffer of onData")
class KeptBufferTest {
    private static final String KEEPER = "io.millrace.conformance.KeptBufferMain$Keeper";

    private static String run(String debug, String... arguments) {
        return run(debug, List.of(), arguments);
    }

    private static String run(String debug, List<String> jvm, String... arguments) {
        List<String> options = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED"));
        options.addAll(jvm);
        if (!debug.isEmpty()) {
            options.add("-Dmillrace.debug=" + debug);
        }
        ChildJvm child = ChildJvm.run(KeptBufferMain.class, options, arguments);
        assertThat(child.exit()).as(child.output()).isZero();
        return child.output();
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-16: a kept buffer cannot be used after the call, and the report names the handler that kept it")
    void kept(Dispatch dispatch) {
        assertThat(run("buffers", "kept", dispatch.name()))
                .contains("got first", "refused", "got next")
                .doesNotContain("read ")
                .containsPattern("WARNING: onData of " + KEEPER.replace("$", "\\$")
                        + " has kept the buffer that it got on connection 1 with .*, \\d+ ms after it returned")
                .contains("copy what you need later");
    }

    @Test
    @DisplayName("srv-16: so it is with slices, and with frames, whether they came in one piece or in several")
    void framed() {
        String output = run("buffers", "framed", "LOOP");
        assertThat(output)
                .contains("got whole", "got parts", "got next", "onData of " + KEEPER + " has kept the buffer")
                .doesNotContain("read ");
        assertThat(output.split("refused", -1)).hasSize(3);
    }

    @Test
    @DisplayName("srv-16: nobody is accused who copies")
    void copied() {
        assertThat(run("buffers", "copied")).contains("copied 5001").doesNotContain("WARNING");
    }

    @Test
    @DisplayName("srv-16: nobody is accused because of our own references, wherever in a call garbage is collected")
    void collectedAnywhere() {
        // A frame of the interpreter keeps what its method no longer needs, and a small young generation is collected
        // often.
        assertThat(run("buffers", List.of("-Xint", "-Xmn512k"), "many", "20000"))
                .contains("saw 20000")
                .doesNotContain("WARNING");
    }

    @Test
    @DisplayName("srv-16: a callback that uses a buffer too late is told why, and sends nothing")
    void late() {
        assertThat(run("buffers", "late"))
                .contains("sent 0, closed true")
                .contains("a callback of io.millrace.conformance.KeptBufferMain$Procrastinator on connection 1")
                .contains("used a buffer that onData had kept, or memory that was closed, at "
                        + "io.millrace.conformance.KeptBufferMain$Procrastinator.lambda$onData$0(KeptBufferMain.java:");
    }

    @ParameterizedTest
    @MethodSource("io.millrace.conformance.ServerSetting#chosen")
    @DisplayName("srv-16: within the call such a buffer is sent like any other")
    void echo(ServerSetting setting) {
        assertThat(run("buffers", "echo", setting.on(), setting.dispatch().name()))
                .containsPattern("(?s)same 1\\R.*same 5000\\R.*same 300000\\R.*same 1\\R.*same 5000\\R.*same 300000")
                .doesNotContain("other ", "WARNING", "Exception");
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-16: a handler that sets a framing leaves it what it has not consumed, as without the option")
    void switching(Dispatch dispatch) {
        assertThat(run("buffers", "switch", dispatch.name())).contains("line one", "line two");
        assertThat(run("", "switch", dispatch.name())).contains("line one", "line two");
    }

    @Test
    @DisplayName("srv-16: without the option nothing is copied; a word that is not known is named")
    void off() {
        assertThat(run("", "kept", "LOOP")).contains("read ").doesNotContain("refused", "WARNING");
        assertThat(run("bufers", "kept", "LOOP"))
                .contains("unknown word bufers")
                .contains("read ");
    }
}
