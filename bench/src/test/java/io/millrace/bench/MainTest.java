package io.millrace.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The command line of bench")
class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String line) {
        return Main.run(line.split(" ", -1), new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    }

    @Test
    void explainsItself() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString(UTF_8))
                .startsWith("Usage: millrace bench [SUITE] ")
                .contains("[echo|");
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --frob                  | cannot understand --frob; try millrace bench --help
        echo memory             | cannot understand memory; try millrace bench --help
        --rounds                | Missing required parameter for option '--rounds' (N); try millrace bench --help
        --rounds x              | Invalid value for option '--rounds': 'x' is not an int; try millrace bench --help
        --rounds 0              | --rounds must be from 1 to 1000, not 0
        echo --rounds 1001      | --rounds must be from 1 to 1000, not 1001
        --json no/such/dir/x    | cannot write --json no/such/dir/x: there is no such folder
        --only (                | --only must be a regular expression, not (: Unclosed group
        --json src              | cannot write --json src: it is a folder
        compare                 | compare needs two files of results: millrace bench compare OLD.json NEW.json
        compare a.json b c      | compare needs two files of results: millrace bench compare OLD.json NEW.json
        compare no.json b.json  | cannot compare no.json: there is no such file
        compare pom.xml b.json  | cannot compare pom.xml: it is not JSON
        scale                   | scale needs a file of results: millrace bench scale FILE.json
        scale no.json           | cannot size by no.json: there is no such file
        scale pom.xml           | cannot read pom.xml: it is not JSON
        scale pom.xml --room 0  | --room must be above 0 and at most a billion, not 0.0
        scale pom.xml --frob    | cannot understand --frob; try millrace bench --help
        """)
    @DisplayName("what makes no sense is one line that says so, and exit status 2")
    void nonsense(String line, String message) {
        assertThat(run(line)).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines()).containsExactly("millrace: " + message);
        assertThat(out.toString(UTF_8)).isEmpty();
    }

    @Test
    void namesTheSuitesThereAre() {
        assertThat(run("everything")).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines())
                .singleElement()
                .asString()
                .startsWith("millrace: cannot bench everything; there are echo")
                .endsWith(" and all");
    }
}
