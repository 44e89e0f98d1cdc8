package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("JSON, and what programs say")
class JsonTest {
    @Test
    void whatIsWrittenIsReadAgain() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("text", "a \"quoted\" \\ line\nand\tanother \u0001 é");
        object.put("numbers", Arrays.asList(1.0, -2.5, 1e-7, 123_456_789.0, null));
        object.put("nested", Map.of("empty", List.of(), "yes", true));
        object.put("nothing", Map.of());
        assertThat(Json.readObject(Json.write(object))).isEqualTo(object);
    }

    @Test
    void whatOthersWriteIsRead() {
        assertThat(Json.read(" [ 1.5e3,\"\\u00e9\\/\" , {\"a\":[false ,null]}] "))
                .isEqualTo(List.of(1500.0, "é/", Map.of("a", Arrays.asList(false, null))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[1 2]", "{\"a\" 1}", "{a:1}", "\"open", "nul", "1 1", "\"\\u00"})
    void whatIsNoJsonIsRefused(String text) {
        assertThatThrownBy(() -> Json.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("no JSON");
    }

    @Test
    @DisplayName("the load's seconds of CPU become microseconds for each message")
    void load() throws IOException {
        Map<String, Double> figures = Load.figures("""
            {"messages": 1000, "serverCpuSeconds": 0.007, "serverUserSeconds": 0.0005, "p50us": 12,
             "serverSystemSeconds": null, "coordinatedOmission": "closed loop"}
            """);
        assertThat(figures).containsEntry("p50us", 12.0).doesNotContainKeys("systemMicros", "coordinatedOmission");
        assertThat(figures.get("cpuMicros")).isEqualTo(7.0, org.assertj.core.data.Offset.offset(1e-9));
        assertThat(figures.get("userMicros")).isEqualTo(0.5, org.assertj.core.data.Offset.offset(1e-9));
        assertThatThrownBy(() -> Load.figures("{\"messages\": 0}")).hasMessageContaining("no message came back");
        assertThatThrownBy(() -> Load.figures("Segmentation fault")).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName("an absent peer is named with the command that installs it")
    void absent() {
        assertThat(Native.absent("built load\nabsent echo_uv: no libuv headers; install: apt install libuv1-dev\n"))
                .containsExactly(Map.entry("echo_uv", "no libuv headers; install: apt install libuv1-dev"));
    }
}
