package io.millrace.examples.bridges;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;

/** Starts the application as its main method does, and asks it from outside. */
class WebFluxOnMillraceTest {
    private static ConfigurableApplicationContext application;
    private static String address;

    @BeforeAll
    static void start() {
        application = SpringApplication.run(
                WebFluxOnMillrace.class,
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn");
        address = "http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port");
    }

    @AfterAll
    static void end() {
        Reactors reactors = application.getBean(Reactors.class);
        application.close();
        assertThat(reactors.isShutdown()).isTrue();
    }

    @Test
    @DisplayName("nty-4: a WebFlux application answers on a reactor's thread, over channels of Millrace")
    void answersOnAReactor() throws Exception {
        assertThat(get("/")).isEqualTo("hello");
        assertThat(get("/thread")).matches("webflux-\\d+");
        assertThat(get("/loops")).contains("MillraceServerSocketChannel").contains("MillraceSocketChannel");
    }

    private static String get(String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create(address + path)).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    @Test
    @DisplayName("nty-4: a WebClient with Spring's resources runs on the same reactors")
    void clientsToo() {
        ReactorResourceFactory resources = application.getBean(ReactorResourceFactory.class);
        WebClient client = WebClient.builder()
                .clientConnector(new ReactorClientHttpConnector(resources, http -> http))
                .baseUrl(address)
                .build();
        String threads = client.get()
                .uri("/thread")
                .retrieve()
                .bodyToMono(String.class)
                .map(server -> server + " " + Thread.currentThread().getName())
                .block();
        assertThat(threads).matches("webflux-\\d+ webflux-\\d+");
    }

    @Test
    @DisplayName("nty-4: a WebFlux application answers wrk: no error, no timeout")
    void answersWrk() throws Exception {
        Tools.require("wrk", "wrk");
        Process wrk = new ProcessBuilder("wrk", "-t1", "-c50", "-d2s", address + "/")
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(wrk.waitFor(20, TimeUnit.SECONDS)).isTrue();
            Matcher requests = Pattern.compile("(\\d+) requests in").matcher(output);
            assertThat(requests.find()).as(output).isTrue();
            assertThat(Integer.parseInt(requests.group(1))).as(output).isGreaterThan(100);
            assertThat(output).doesNotContain("Socket errors").doesNotContain("Non-2xx");
        } finally {
            wrk.destroyForcibly();
        }
    }
}
