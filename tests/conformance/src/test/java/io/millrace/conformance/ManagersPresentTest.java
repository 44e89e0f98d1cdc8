package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testkit.AlarmContract;
import io.millrace.testkit.EndingContract;
import io.millrace.testkit.EventManagerContract;
import io.millrace.testkit.ManagerContract;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Fails if a suite of the testkit for event managers is run by nobody. */
@DisplayName("No manager is skipped silently")
class ManagersPresentTest {
    @Test
    @DisplayName("grpc-1: every suite for managers stands in the class of every manager")
    void everySuiteIsThere() throws Exception {
        List<Class<?>> suites = BackendsPresentTest.suites(ManagerContract.class);
        assertThat(suites).hasSizeGreaterThanOrEqualTo(5);
        for (Class<?> manager : List.of(
                ThreadyManagerTest.class,
                ReactorsEpollOneTest.class,
                ReactorsEpollThreeTest.class,
                ReactorsPollOneTest.class,
                ReactorsPollThreeTest.class,
                ReactorsNioOneTest.class,
                ReactorsNioThreeTest.class,
                ReactorsKqueueOneTest.class)) {
            assertThat(BackendsPresentTest.nested(manager))
                    .as(manager.getSimpleName())
                    .containsExactlyInAnyOrderElementsOf(suites);
        }
    }

    @Test
    @DisplayName("grpc-15: a manager without descriptors has the base suites")
    void theBaseSuitesAreThere() {
        assertThat(BackendsPresentTest.nested(ToyManagerTest.class))
                .containsExactlyInAnyOrder(EventManagerContract.class, AlarmContract.class, EndingContract.class);
    }
}
