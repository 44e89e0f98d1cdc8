package io.millrace.server.handover;

import io.millrace.net.PassedDescriptor;
import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is said about one socket that is handed over: a line, with which its descriptor travels.
 *
 * <pre>
 * socket tcp own echo 127.0.0.1:7007
 * socket unix own takeover /run/echo/takeover.sock
 * </pre>
 *
 * @param kind what it is
 * @param kept whether a service manager keeps the socket for the next process: then its file stays, and so does what waits
 * @param server the name of the server that it belongs to
 * @param address for people, and the path of a Unix socket
 */
public record SocketLine(Kind kind, boolean kept, String server, String address) {
    /** What can be handed over. */
    public enum Kind {
        TCP(PassedDescriptor.Kind.TCP_LISTENER),
        UNIX(PassedDescriptor.Kind.UNIX_LISTENER),
        UDP(PassedDescriptor.Kind.UDP_SOCKET);

        private final PassedDescriptor.Kind descriptor;

        Kind(PassedDescriptor.Kind descriptor) {
            this.descriptor = descriptor;
        }

        /** Returns what such a descriptor is. */
        public PassedDescriptor.Kind descriptor() {
            return descriptor;
        }
    }

    private static final Pattern SERVER = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Pattern PRINTABLE = Pattern.compile("\\P{Cntrl}+");
    private static final Pattern LINE =
            Pattern.compile("socket (tcp|unix|udp) (own|kept) (" + SERVER + ") (" + PRINTABLE + ")");

    public SocketLine {
        requireName(server);
        if (!PRINTABLE.matcher(address).matches()) {
            throw new IllegalArgumentException("cannot hand over a socket whose path has control characters");
        }
    }

    /** Checks the name of a server, which is a word of a line. */
    public static void requireName(String server) {
        if (!SERVER.matcher(server).matches()) {
            throw new IllegalArgumentException("the name of a server that can be handed over has at most 64 letters,"
                    + " digits, dots, hyphens and underscores, and at least one: " + server);
        }
    }

    /** Reads a line. */
    static SocketLine parse(String line) throws IOException {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw HandoverTalk.garbage(line);
        }
        return new SocketLine(
                Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)),
                matcher.group(2).equals("kept"),
                matcher.group(3),
                matcher.group(4));
    }

    @Override
    public String toString() {
        return "socket " + kind.name().toLowerCase(Locale.ROOT) + (kept ? " kept " : " own ") + server + " " + address;
    }
}
