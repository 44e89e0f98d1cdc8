package io.millrace.netty.testsuite;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** That there are loops to test on. The only test here that may run outside a namespace. */
class LoopsTest {
    @ParameterizedTest
    @EnumSource
    void eachKindRunsATask(Loops loops) throws Exception {
        EventLoopGroup group = loops.group(2);
        assertThat(group.submit(() -> "ran").get(10, TimeUnit.SECONDS)).isEqualTo("ran");
        assertThat(group.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS))
                .isTrue();
    }
}
