package io.millrace.engine.internal;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The log of failures")
class FailureLogTest {
    private static final class Throwing implements System.Logger {
        @Override
        public String getName() {
            return "throwing";
        }

        @Override
        public boolean isLoggable(Level level) {
            throw new IllegalStateException("a logger that throws");
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
            throw new IllegalStateException("a logger that throws");
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... parameters) {
            throw new IllegalStateException("a logger that throws");
        }
    }

    @Test
    @DisplayName("end-1: a logger that throws does not keep anything from opening")
    void loggerThatThrows() {
        assertThatCode(() -> FailureLog.prepare(new Throwing())).doesNotThrowAnyException();
    }
}
