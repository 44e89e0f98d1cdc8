package io.millrace.cli.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Text of strangers")
class PlainTest {
    @ParameterizedTest
    @CsvSource({
        "0000, 0008, C0",
        "000A, 001F, C0",
        "007F, 009F, DEL and C1",
        "061C, 061C, Arabic letter mark",
        "200B, 200F, no width and marks",
        "2028, 202E, separators and direction",
        "2060, 2069, word joiner and isolates",
        "FEFF, FEFF, no-break of no width",
        "00AD, 00AD, soft hyphen",
        "FE00, FE0F, variants",
        "E0001, E007F, tags",
        "3164, 3164, a filler"
    })
    @DisplayName("has nothing in it that is not seen")
    void invisible(String first, String last, String what) {
        IntStream.rangeClosed(Integer.parseInt(first, 16), Integer.parseInt(last, 16))
                .forEach(c -> assertThat(Plain.of("a" + Character.toString(c) + "b"))
                        .as("U+%04X", c)
                        .isEqualTo("ab"));
    }

    @Test
    @DisplayName("keeps what is seen")
    void visible() {
        String text = "Grüße, Мария, 你好, שלום, مرحبا, ไทย, 👍🏽 €";
        assertThat(Plain.of(text)).isEqualTo(text);
        assertThat(Plain.of(" \ta\u00A0b\u3000c\td \r")).isEqualTo("a b c d");
    }

    @Test
    @DisplayName("is one character where it looks like one")
    void composed() {
        assertThat(Plain.of("Jose\u0301")).isEqualTo("José");
    }

    @Test
    @DisplayName("is valid, whatever the bytes were")
    void invalid() {
        assertThat(Plain.of(ByteBuffer.wrap(new byte[] {'a', (byte) 0x9B, 'b', (byte) 0xE2, (byte) 0x80})))
                .isEqualTo("a\uFFFDb\uFFFD");
        assertThat(Plain.of("a\uD800b")).isEqualTo("ab");
    }
}
