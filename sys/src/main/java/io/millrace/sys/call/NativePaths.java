package io.millrace.sys.call;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;

/**
 * Converts paths, names and arguments to the bytes that the kernel expects.
 *
 * <p>To the kernel, a file name is bytes, and a {@link Path} keeps them; but its string is decoded with the locale's
 * charset, which in a container is often ASCII. So the conversion uses the URI, in which every byte other than a letter
 * is written in hexadecimal and nothing is lost. Text that never was a path, such as an argument or a variable, is
 * encoded with the charset.
 */
public final class NativePaths {
    private static final Charset CHARSET = charset();

    private NativePaths() {}

    /** Returns the bytes of the absolute path, without a final zero. */
    public static byte[] bytes(Path path) {
        if (!Objects.equals(path.getFileSystem(), FileSystems.getDefault())) {
            throw new IllegalArgumentException("the kernel knows only paths of the default file system, not " + path
                    + " of " + path.getFileSystem());
        }
        Path absolute = path.toAbsolutePath();
        String text = absolute.toString();
        return isAscii(text) ? text.getBytes(StandardCharsets.ISO_8859_1) : decoded(absolute);
    }

    /**
     * Every charset that a locale may have agrees on these characters, and none decodes an unknown byte to one of them.
     */
    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7f) {
                return false;
            }
        }
        return true;
    }

    /** Decodes by way of the URI, which also checks whether the path is a directory. */
    private static byte[] decoded(Path absolute) {
        String raw = absolute.toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                bytes.write(Integer.parseInt(raw, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        byte[] all = bytes.toByteArray();
        // The URI of a directory ends in a slash, which would follow a link that must not be followed.
        return all.length > 1 && all[all.length - 1] == '/' ? Arrays.copyOf(all, all.length - 1) : all;
    }

    /** Returns the file name with these bytes; neither empty nor with a slash. */
    public static Path name(byte[] bytes) {
        return Path.of(URI.create("file:///" + escaped(bytes))).getFileName();
    }

    /** Returns the path with these bytes; not empty. */
    public static Path path(byte[] bytes) {
        if (bytes[0] == '/') {
            return Path.of(URI.create("file://" + escaped(bytes)));
        }
        Path absolute = Path.of(URI.create("file:///" + escaped(bytes)));
        return absolute.getRoot().relativize(absolute);
    }

    private static StringBuilder escaped(byte[] bytes) {
        StringBuilder uri = new StringBuilder();
        for (byte b : bytes) {
            boolean plain = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '/';
            if (plain) {
                uri.append((char) b);
            } else {
                uri.append('%').append(Character.forDigit(b >> 4 & 0xf, 16)).append(Character.forDigit(b & 0xf, 16));
            }
        }
        return uri;
    }

    /** Returns an argument or variable in the locale's charset, without a final zero. */
    public static byte[] text(String text, String what) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(what + " must not contain a zero character: "
                    + text.replace('\0', '\u2400') + "; the kernel would cut it off there");
        }
        ByteBuffer encoded = CHARSET.encode(text);
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }

    private static Charset charset() {
        String name = System.getProperty("sun.jnu.encoding");
        return name != null && Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }
}
