package io.millrace.server.connection;

import io.millrace.net.ByteStream;
import io.millrace.net.TcpStream;
import io.millrace.server.Connection;
import io.millrace.server.Framing;
import io.millrace.server.framing.FramingTerms;

/** Lets tests of other packages see what a connection has inside. */
public final class ConnectionProbe {
    private ConnectionProbe() {}

    /** Whether it has a decoder, which costs memory. */
    public static boolean hasDecoder(Connection connection) {
        return ((StreamConnection) connection).frames != null;
    }

    /** Whether a frame has begun, and its time is running. */
    public static boolean isWatched(Connection connection) {
        FrameDecoder frames = ((StreamConnection) connection).frames;
        return frames != null && frames.isWatched();
    }

    /** What a connection would use of a framing. */
    public static Framing framing(Framing set) {
        return FramingTerms.of(set).framing();
    }

    /** How long a frame would have. */
    public static long withinNanos(Framing set) {
        return FramingTerms.of(set).withinNanos();
    }

    public static TcpStream stream(Connection connection) {
        return (TcpStream) socket(connection);
    }

    /** Over TCP, or at a Unix socket. */
    public static ByteStream socket(Connection connection) {
        return ((StreamConnection) connection).stream();
    }
}
