package io.millrace.cli.chat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;

/**
 * Makes text from strangers safe to show on a terminal: nothing invisible is left in it.
 * <ul>
 *   <li>No control characters: neither C0 and DEL nor C1, where a terminal takes U+009B for the beginning of a command
 *       and U+009D for that of a title.
 *   <li>No format characters, such as those that change the direction of writing or have no width, and nothing else
 *       that is never drawn.
 *   <li>Any space or tab becomes a space, and invalid UTF-8 becomes U+FFFD.
 *   <li>A letter and its accent become one character, if there is one.
 * </ul>
 *
 * <p>So two names that look the same are the same, except for letters that look alike.
 */
final class Plain {
    private Plain() {}

    static String of(ByteBuffer utf8) {
        return of(StandardCharsets.UTF_8.decode(utf8).toString());
    }

    static String of(String text) {
        StringBuilder plain = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (c == '\t' || Character.getType(c) == Character.SPACE_SEPARATOR) {
                plain.append(' ');
            } else if (!isInvisible(c)) {
                plain.appendCodePoint(c);
            }
        });
        return Normalizer.normalize(plain, Normalizer.Form.NFC).strip();
    }

    private static boolean isInvisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> isIgnorable(c);
        };
    }

    /** Returns whether Unicode lists it as Default_Ignorable_Code_Point, which Java does not expose. */
    private static boolean isIgnorable(int c) {
        return switch (c) {
            case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0 -> true;
            default ->
                (c >= 0x180B && c <= 0x180F)
                        || (c >= 0x2060 && c <= 0x206F)
                        || (c >= 0xFE00 && c <= 0xFE0F)
                        || (c >= 0xFFF0 && c <= 0xFFF8)
                        || (c >= 0xE0000 && c <= 0xE0FFF);
        };
    }
}
