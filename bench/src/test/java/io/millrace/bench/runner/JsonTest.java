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

    @Test
    @DisplayName("JMH's scores by method: divided by the threads, percentiles of samples, medians of counters")
    void jmh() throws IOException {
        Map<String, Double> figures = JmhCandidate.figures("""
            [{"benchmark": "io.x.Bench.two", "mode": "avgt", "threads": 2, "primaryMetric": {"score": 30.0}, "secondaryMetrics": {}},
             {"benchmark": "io.x.Bench.woken", "mode": "sample", "threads": 1,
              "primaryMetric": {"score": 7.0, "scorePercentiles": {"50.0": 6.0, "99.0": 9.0}}, "secondaryMetrics": {}},
             {"benchmark": "io.x.Bench.fire", "mode": "ss", "threads": 1, "primaryMetric": {"score": 1.0},
              "secondaryMetrics": {"cpuNanos": {"score": 12.0, "rawData": [[5.0, 3.0, 4.0]]}}}]
            """);
        assertThat(figures)
                .containsEntry("two", 15.0)
                .containsEntry("woken.p50", 6.0)
                .containsEntry("woken.p99", 9.0)
                .containsEntry("fire.cpuNanos", 4.0);
        assertThatThrownBy(() -> JmhCandidate.figures("[]")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> JmhCandidate.figures("[{}]")).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName("redis-benchmark's CSV by the names of its columns; a test that did not run is an error")
    void redis() throws IOException {
        String header = "\"test\",\"rps\",\"avg_latency_ms\",\"p50_latency_ms\",\"p99_latency_ms\"\n";
        String rows = "\"PING_MBULK\",\"1\",\"0\",\"2\",\"3\"\n\"SET\",\"4\",\"0\",\"5\",\"6\"\n"
                + "\"GET\",\"7.5\",\"0\",\"0.1\",\"0.2\"\n";
        assertThatThrownBy(() -> RedisSuite.figures(header + rows)).hasMessageContaining("did not run all tests");
        assertThat(RedisSuite.figures(header + rows + "\"INCR\",\"8\",\"0\",\"0.1\",\"0.2\"\n"))
                .containsEntry("GET", 7.5)
                .containsEntry("p50.GET", 0.1)
                .containsEntry("p99.SET", 6.0);
    }

    @Test
    @DisplayName("jcmd's generations are added, its metaspace is not")
    void heap() throws IOException {
        assertThat(IdleWeight.used("""
            4711:
             DefNew     total 9792K, used 512K [0x1, 0x2, 0x3)
              eden space 8704K,   0% used [0x1, 0x2, 0x3)
             Tenured    total 21888K, used 2000K [0x1, 0x2, 0x3)
              the  space 21888K,   9% used [0x1, 0x2, 0x3)
             Metaspace       used 9000K, committed 9280K, reserved 1114112K
            """)).isEqualTo(2512 * 1024);
        assertThatThrownBy(() -> IdleWeight.used("nothing")).isInstanceOf(IOException.class);
    }

    @Test
    void handOver() throws IOException {
        assertThat(HandOver.figures("millrace execute 22.5 15.5\nmillrace run 50.0 30.0\n"))
                .containsEntry("execute", 38.0)
                .containsEntry("execute.producer", 22.5)
                .containsEntry("run", 80.0);
        assertThatThrownBy(() -> HandOver.figures("what?")).isInstanceOf(IOException.class);
    }
}
