package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The parser of commands")
class CommandParserTest {
    /** The commands in a text that comes in pieces of this many bytes. Behind what has come is garbage, as in a buffer that was used before. */
    private static List<List<String>> read(String text, int piece) throws CommandParser.ProtocolError {
        byte[] all = text.getBytes(ISO_8859_1);
        byte[] bytes = new byte[all.length];
        Arrays.fill(bytes, (byte) '!');
        CommandParser parser = new CommandParser();
        List<List<String>> commands = new ArrayList<>();
        int from = 0;
        int come = 0;
        for (int end = Math.min(piece, bytes.length); ; end = Math.min(end + piece, bytes.length)) {
            System.arraycopy(all, come, bytes, come, end - come);
            come = end;
            for (int size = parser.read(bytes, from, end); size > 0; size = parser.read(bytes, from, end)) {
                List<String> words = new ArrayList<>();
                for (int i = 0; i < parser.count(); i++) {
                    words.add(new String(parser.copy(i), ISO_8859_1));
                }
                commands.add(words);
                parser.next();
                from += size;
            }
            if (end == bytes.length) {
                return commands;
            }
        }
    }

    @Test
    @DisplayName("finds the same commands however they are cut")
    void cutEverywhere() throws Exception {
        String text = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\r\n$1\r\n" // a value that looks like the protocol
                + "PING\r\n" + "  set  a \"x y\\n\" 'it\\'s'\n" + "*0\r\n" + "*-1\r\n" + "\r\n"
                + "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n" + "*1\r\n$4\r\nQUIT\r\n";
        List<List<String>> expected = List.of(
                List.of("SET", "k", "\r\n$1"),
                List.of("PING"),
                List.of("set", "a", "x y\n", "it's"),
                List.of(),
                List.of(),
                List.of(),
                List.of("ECHO", ""),
                List.of("QUIT"));
        for (int piece = 1; piece <= text.length(); piece++) {
            assertThat(read(text, piece)).as("in pieces of %s", piece).isEqualTo(expected);
        }
    }

    @Test
    @DisplayName("decodes what is in quotes as Redis does")
    void escapes() throws Exception {
        assertThat(read("set \"\\x41\\x7a\" \"\\x4g\\x\" '\\x41' \"\\a\\\\\"\r\n", 100))
                .containsExactly(List.of("set", "Az", "x4gx", "\\x41", "\u0007\\"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        *a\\r\\n                 | invalid multibulk length
        *1048577\\r\\n           | invalid multibulk length
        *99999999999999999999\\r\\n | invalid multibulk length
        *1\\r\\n:1\\r\\n         | expected '$', got ':'
        *1\\r\\n$-1\\r\\n        | invalid bulk length
        *1\\r\\n$536870913\\r\\n | invalid bulk length
        *1\\r\\n$x\\r\\n         | invalid bulk length
        get "a\\r\\n             | unbalanced quotes in request
        get "a"b\\r\\n           | unbalanced quotes in request
        """)
    @DisplayName("refuses what no client says, with the words of Redis")
    void refuses(String text, String message) {
        String sent = text.replace("\\r", "\r").replace("\\n", "\n");
        for (int piece : new int[] {1, 3, 100}) {
            assertThatThrownBy(() -> read(sent, piece)).hasMessage(message);
        }
    }

    @Test
    @DisplayName("shows the byte that is wrong, if it can be shown")
    void showsWhatItGot() {
        for (String[] line : new String[][] {{"\37", "?"}, {" ", " "}, {"~", "~"}, {"\177", "?"}, {"\351", "?"}}) {
            assertThatThrownBy(() -> read("*1\r\n" + line[0], 100)).hasMessage("expected '$', got '" + line[1] + "'");
        }
    }

    @Test
    @DisplayName("takes as many words, and as long a word, as Redis")
    void largest() throws Exception {
        assertThat(read("*1048576\r\n", 100)).isEmpty();
        assertThat(read("*1\r\n$536870912\r\n", 100)).isEmpty();
    }

    @Test
    @DisplayName("words of a line are parted by any white space, and by nothing else")
    void whiteSpace() throws Exception {
        assertThat(read("a\tb\13c\14d\re f\r\n", 100)).containsExactly(List.of("a", "b", "c", "d", "e", "f"));
        assertThat(read("a\10b\16c\n", 100)).containsExactly(List.of("a\10b\16c"));
        assertThat(read("\"\\n\\r\\t\\b\\a\\x\\\\\" 'a\\n\\'' \"\" x\"y z\"\r\n", 100))
                .containsExactly(List.of("\n\r\t\b\7x\\", "a\\n'", "", "xy z"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 70_000})
    @DisplayName("refuses lines without an end at 64 KiB")
    void linesWithoutEnd(int piece) throws Exception {
        String digits = "1".repeat(CommandParser.MAX_LINE - 1);
        assertThat(read("*" + digits, piece)).isEmpty();
        assertThatThrownBy(() -> read("*1" + digits, piece)).hasMessage("too big mbulk count string");
        assertThatThrownBy(() -> read("*1\r\n$1" + digits, piece)).hasMessage("too big bulk count string");
        // Wherever the line begins.
        assertThat(read("PING\r\n*" + digits, piece)).hasSize(1);
        assertThat(read("PING\r\n*1\r\n$" + digits, piece)).hasSize(1);
        assertThat(read("PING\r\nx" + digits, piece)).hasSize(1);
        assertThat(read("PING\r\nx" + digits + "\n", piece)).hasSize(2);
        assertThat(read("x" + digits, piece)).isEmpty();
        assertThat(read("x" + digits + "\n", piece)).hasSize(1);
        assertThatThrownBy(() -> read("xx" + digits, piece)).hasMessage("too big inline request");
        assertThatThrownBy(() -> read("xx" + digits + "\n", piece)).hasMessage("too big inline request");
    }

    @Test
    @DisplayName("reads a command of many words, and gives the room back")
    void manyWords() throws Exception {
        StringBuilder text = new StringBuilder("*100000\r\n");
        for (int i = 0; i < 100_000; i++) {
            text.append("$1\r\n").append((char) ('a' + i % 26)).append("\r\n");
        }
        assertThat(read(text.toString(), 8192))
                .singleElement()
                .satisfies(words -> assertThat(words).hasSize(100_000));
    }

    @ParameterizedTest
    @CsvSource({
        "0,0",
        "7,7",
        "-7,-7",
        "9223372036854775807,9223372036854775807",
        "-9223372036854775807,-9223372036854775807"
    })
    void numbers(String text, long value) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        assertThat(Numbers.parse(bytes, 0, bytes.length)).isEqualTo(value);
        byte[] written = new byte[Numbers.length(value)];
        assertThat(Numbers.write(value, written, 0)).isEqualTo(written.length);
        assertThat(written).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-",
                "+1",
                "01",
                "-0",
                " 1",
                "1 ",
                "1.0",
                "9223372036854775808",
                "-9223372036854775809",
                "99999999999999999999",
                "x"
            })
    void notNumbers(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        assertThat(Numbers.parse(bytes, 0, bytes.length)).isEqualTo(Numbers.NONE);
    }

    @Test
    @DisplayName("finds every command by its name in letters of either case, and nothing else")
    void names() {
        for (Command command : Command.values()) {
            byte[] mixed = command.name().getBytes(ISO_8859_1);
            mixed[0] = (byte) (mixed[0] + 32);
            assertThat(Command.find(mixed, 0, mixed.length)).isEqualTo(command);
            assertThat(Command.find(mixed, 0, mixed.length - 1)).isNotEqualTo(command);
        }
        byte[] none = "FLUSHEVERYTHINGNOW".getBytes(ISO_8859_1);
        assertThat(Command.find(none, 0, none.length)).isNull();
        assertThat(Command.find(none, 0, 9)).isNull();
        assertThat(Command.find(none, 0, 0)).isNull();
    }
}
