package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The way from a behaviour of {@code docs/contract.md} to its tests and back: see {@link ContractPage}, which also mends the page. */
@DisplayName("Ids of the contract")
class ContractIdsTest {
    private static final int MOST_IDS = 3;

    /** Ids whose tests are still to come. An id that has one must be taken off. */
    private static final Set<String> COMING = Set.of();

    private static ContractPage page;

    @BeforeAll
    static void read() throws IOException {
        Path root = Path.of("../..").toRealPath();
        assertThat(root.resolve("tests/conformance")).as("the repository").isDirectory();
        page = ContractPage.read(root);
    }

    @Test
    @DisplayName("every id of the page has the tests that it names, and every id that a test names is on the page")
    void thePageIsTrue() {
        assertThat(page.problems(COMING)).isEmpty();
    }

    @Test
    @DisplayName("the page and the tests are found at all")
    void somethingIsChecked() {
        assertThat(page.rows()).hasSizeGreaterThan(100);
        assertThat(page.tests())
                .hasSizeGreaterThan(500)
                .noneMatch(test -> test.name().endsWith("#?"));
    }

    @Test
    @DisplayName("no test stands for too many ids")
    void noTestStandsForTooMany() {
        assertThat(page.tests())
                .allSatisfy(
                        test -> assertThat(test.ids()).as(test.displayName()).hasSizeLessThanOrEqualTo(MOST_IDS));
    }
}
