package io.millrace.server.support;

import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.tls.TlsSession;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The events of connections for the flight recorder. Call a method only while {@link FlightRecorderSwitch#isOn}. Each
 * asks first whether its event is enabled. They are off unless the settings of a recording turn them on, because there
 * may be thousands of connections in a second.
 */
public final class ConnectionEvents {
    private static final AcceptEvent ACCEPT = new AcceptEvent();
    private static final ConnectionEvent CONNECTION = new ConnectionEvent();

    private ConnectionEvents() {}

    @Name("millrace.Accept")
    @Label("Accept")
    @Category("Millrace")
    @Description("A connection that was accepted, or turned away")
    @Enabled(false)
    @StackTrace(false)
    static final class AcceptEvent extends Event {
        @Label("Connection")
        @Description("Its id; 0 if it was turned away")
        long connection;

        @Label("Remote Address")
        @Nullable
        String remoteAddress;

        @Label("Loop")
        @Nullable
        String loop;

        @Label("Outcome")
        @Description("TAKEN, or why it was turned away: FULL, ADDRESS_FULL or CLOSED")
        @Nullable
        String outcome;
    }

    /** A connection was accepted or turned away. */
    public static void accepted(long id, InetSocketAddress remote, Object loop, Enum<?> outcome) {
        if (ACCEPT.isEnabled()) {
            AcceptEvent event = new AcceptEvent();
            event.connection = id;
            event.remoteAddress = remote.toString();
            event.loop = loop.toString();
            event.outcome = outcome.name();
            event.commit();
        }
    }

    @Name("millrace.Connection")
    @Label("Connection")
    @Category("Millrace")
    @Description("A connection that has ended")
    @Enabled(false)
    @StackTrace(false)
    static final class ConnectionEvent extends Event {
        @Label("Connection")
        long connection;

        @Label("Remote Address")
        @Nullable
        String remoteAddress;

        @Label("Loop")
        @Nullable
        String loop;

        @Label("Handler")
        @Nullable
        String handler;

        @Label("Age")
        @Timespan(Timespan.NANOSECONDS)
        long age;

        @Label("Received")
        @DataAmount
        long bytesReceived;

        @Label("Sent")
        @DataAmount
        long bytesSent;

        @Label("Unsent")
        @DataAmount
        long bytesUnsent;

        @Label("Cause")
        @Description("The failure that ended it; empty if it was closed")
        @Nullable
        String cause;

        @Label("TLS")
        @Nullable
        String tls;
    }

    /** A connection has ended. */
    public static void ended(Supplier<ConnectionSnapshot> connection, long unsent, @Nullable Throwable cause) {
        if (CONNECTION.isEnabled()) {
            ConnectionSnapshot last = connection.get();
            TlsSession tls = last.tls();
            ConnectionEvent event = new ConnectionEvent();
            event.connection = last.id();
            event.remoteAddress = last.remoteAddress().toString();
            event.loop = last.loop();
            event.handler = last.handler();
            event.age = last.age().toNanos();
            event.bytesReceived = last.bytesReceived();
            event.bytesSent = last.bytesSent();
            event.bytesUnsent = unsent;
            event.cause = cause == null ? "" : cause.toString();
            event.tls = tls == null ? "" : tls.protocol() + " " + tls.cipherSuite();
            event.commit();
        }
    }
}
