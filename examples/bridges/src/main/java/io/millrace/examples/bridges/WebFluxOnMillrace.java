package io.millrace.examples.bridges;

import io.millrace.engine.Reactors;
import io.millrace.reactor.netty.MillraceLoopResources;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

/**
 * WebFlux on reactors: the server, and every {@code WebClient} that Spring makes. All of the application is
 * Spring's; the bean {@link #loops} is what puts it on Millrace.
 *
 * <p>{@code curl http://127.0.0.1:8080/} says hello, {@code /thread} names the thread that answers.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class WebFluxOnMillrace {
    /**
     * Serves until it is told to end.
     *
     * @param args as Spring Boot takes them, for example {@code --server.port=9090}
     */
    public static void main(String[] args) {
        SpringApplication.run(WebFluxOnMillrace.class, args);
    }

    /** Ended by Spring after everything that runs on them. */
    @Bean(destroyMethod = "close")
    Reactors reactors() {
        return Reactors.builder().name("webflux").open();
    }

    /** Spring takes its loops from here, for servers and clients. */
    @Bean
    ReactorResourceFactory loops(Reactors reactors) {
        ReactorResourceFactory factory = new ReactorResourceFactory();
        factory.setUseGlobalResources(false);
        factory.setLoopResourcesSupplier(() -> MillraceLoopResources.on(reactors));
        return factory;
    }

    @Bean
    RouterFunction<ServerResponse> routes(Reactors reactors) {
        return RouterFunctions.route()
                .GET("/", request -> ServerResponse.ok().bodyValue("hello"))
                .GET(
                        "/thread",
                        request -> ServerResponse.ok()
                                .bodyValue(Thread.currentThread().getName()))
                .GET("/loops", request -> ServerResponse.ok().bodyValue(reactors.dump()))
                .build();
    }
}
