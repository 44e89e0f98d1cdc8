package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Io;
import io.millrace.net.Pipe;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Readiness;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The trigger rules and the translation of events, on sockets and pipes of the kernel. */
@DisplayName("Sockets and pipes")
public abstract class SocketContract extends PollContract {
    private static final long TOKEN = 3;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected SocketContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-6: an EDGE socket is reported once until it was drained, then again by new data")
    void anEdgeSocketIsReportedOncePerEdge() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
        assertThat(pollNow()).isEmpty();

        for (int i = 0; i < 3; i++) {
            Bytes.write(pair.right(), 10);
            assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(pollNow()).as("ready, but reported").isEmpty();
            assertThat(pollNow()).as("still").isEmpty();
            assertThat(Bytes.drain(pair.left())).isEqualTo(10);
            assertThat(pollNow()).as("drained").isEmpty();
        }
    }

    @Test
    @DisplayName("mio-6: the two directions of an EDGE socket have edges of their own")
    void theDirectionsHaveTheirOwnEdges() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READ_WRITE, Trigger.EDGE);
        awaitReadiness(TOKEN, Readiness.WRITABLE);
        settle();

        Bytes.write(pair.right(), 1);
        awaitReadiness(TOKEN, Readiness.READABLE);

        Bytes.drain(pair.left());
        Bytes.fill(pair.left());
        settle();
        assertThat(Bytes.drain(pair.right())).isPositive();
        drainUntilWritable(pair);
    }

    /** Drains until it is writable: the kernel reports room only when a good part of the buffer is free again. */
    private void drainUntilWritable(SocketPair pair) {
        Await.until("room in the full socket is an edge", () -> {
            Bytes.drain(pair.right());
            return pollNow().stream().anyMatch(Event::isWritable);
        });
    }

    @Test
    @DisplayName("mio-7: a LEVEL socket is reported by every poll while ready")
    void aLevelSocketIsReportedWhileReady() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        assertThat(pollNow()).isEmpty();

        Bytes.write(pair.right(), 10);
        for (int i = 0; i < 5; i++) {
            assertThat(pollSoon()).as("poll " + i).containsExactly(new Event(TOKEN, Readiness.READABLE));
        }

        assertThat(Bytes.readOnce(pair.left(), 4)).isEqualTo(4);
        assertThat(pollSoon()).as("six bytes are left").hasSize(1);
        assertThat(Bytes.drain(pair.left())).isEqualTo(6);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("A ONESHOT socket is reported once, whatever comes; reregister arms it")
    void aOneShotSocketIsReportedOnce() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.ONESHOT);
        Bytes.write(pair.right(), 1);
        assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));

        assertThat(pollNow()).isEmpty();
        Bytes.drain(pair.left());
        Bytes.write(pair.right(), 1);
        assertThat(pollNow()).as("drained and ready again, but spent").isEmpty();

        poll.reregister(pair.left(), TOKEN, Interest.READABLE, Trigger.ONESHOT);
        assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-8: a socket that is ready is reported as soon as it is registered")
    void aReadySocketIsReportedAtOnce() {
        for (Trigger trigger : Trigger.values()) {
            Pipe pipe = pipe();
            Bytes.write(pipe.sink(), 1);
            poll.register(pipe.source(), TOKEN, Interest.READABLE, trigger);
            assertThat(pollSoon()).as(trigger.name()).containsExactly(new Event(TOKEN, Readiness.READABLE));
            poll.deregister(pipe.source());
        }
    }

    @Test
    @DisplayName("mio-8: three reregisters of an undrained socket are three events")
    void reregisteringAReadySocketNotifies() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
        Bytes.write(pair.right(), 1);
        assertThat(pollSoon()).hasSize(1);
        assertThat(pollNow()).isEmpty();
        assertThat(pollNow()).isEmpty(); // by now an emulated edge has masked it

        for (int i = 0; i < 3; i++) {
            poll.reregister(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
            assertThat(pollSoon()).as("reregister " + i).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(pollNow()).isEmpty();
        }
    }

    @Test
    @DisplayName("mio-9: a socket's readiness is masked by its interest")
    void aSocketsReadinessIsMasked() {
        SocketPair pair = socketPair();
        Bytes.write(pair.right(), 1);
        poll.register(pair.left(), TOKEN, Interest.WRITABLE, Trigger.LEVEL);

        assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.WRITABLE));
        poll.reregister(pair.left(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        poll.reregister(pair.left(), TOKEN, Interest.NONE, Trigger.LEVEL);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-12: an event whose data somebody else took is harmless, and later data is reported")
    void aSpuriousEventIsHarmless() {
        for (Trigger trigger : List.of(Trigger.EDGE, Trigger.LEVEL)) {
            SocketPair pair = socketPair();
            poll.register(pair.left(), TOKEN, Interest.READABLE, trigger);
            for (int i = 0; i < 3; i++) {
                Bytes.write(pair.right(), 1);
                assertThat(tokens(pollSoon())).as(trigger.name()).containsExactly(TOKEN);
                Background.run(() -> Bytes.drain(pair.left())).result();

                assertThat(Bytes.readOnce(pair.left(), 1)).isEqualTo(Io.WOULD_BLOCK);
            }
            poll.deregister(pair.left());
        }
    }

    @Test
    @DisplayName("tip-10: a peer that closes makes the socket readable, and a read finds the end")
    void aHangUpIsReadable() {
        for (Trigger trigger : Trigger.values()) {
            SocketPair pair = socketPair();
            poll.register(pair.left(), TOKEN, Interest.READABLE, trigger);

            pair.right().close();

            Readiness seen = awaitReadiness(TOKEN, Readiness.READABLE);
            assertThat(seen.isReadClosed())
                    .as("the hint, by " + trigger)
                    .isEqualTo(backend().hints());
            assertThat(Bytes.readOnce(pair.left(), 1)).isEqualTo(Io.EOF);
            poll.deregister(pair.left());
        }
    }

    @Test
    @DisplayName("tip-10: data and the end in one go lose neither")
    void dataBeforeAHangUpIsRead() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);

        Bytes.write(pair.right(), 100);
        pair.shutDownRight();

        long[] got = {0};
        Await.until("the end", () -> {
            pollNow();
            int read = Bytes.readOnce(pair.left(), 64);
            got[0] += Math.max(0, read);
            return read == Io.EOF;
        });
        assertThat(got[0]).isEqualTo(100);
    }

    @Test
    @DisplayName("tip-10: a reset reaches every interested direction, as an error where the backend tells")
    void aResetReachesEveryDirection() {
        for (Trigger trigger : Trigger.values()) {
            SocketPair pair = socketPair();
            Bytes.fill(pair.left()); // not writable except for the error
            poll.register(pair.left(), TOKEN, Interest.READ_WRITE, trigger);
            assertThat(pollNow()).isEmpty();

            Await.until("a byte arrived", () -> Bytes.readOnce(pair.right(), 1) == 1);
            pair.right().close();

            Readiness seen = awaitReadiness(TOKEN, Readiness.READ_WRITE);
            assertThat(seen.isError())
                    .as("ERROR, by " + trigger)
                    .isEqualTo(backend().hints());
            poll.deregister(pair.left());
        }
    }

    @Test
    @DisplayName("tip-10: an error reaches a registration that is interested in one direction only")
    void aResetReachesOneDirection() {
        for (Interest interest : List.of(Interest.READABLE, Interest.WRITABLE)) {
            SocketPair pair = socketPair();
            Bytes.fill(pair.left());
            poll.register(pair.left(), TOKEN, interest, Trigger.EDGE);
            assertThat(pollNow()).isEmpty();

            Await.until("a byte arrived", () -> Bytes.readOnce(pair.right(), 1) == 1);
            pair.right().close();

            boolean reading = interest.equals(Interest.READABLE);
            Readiness seen = awaitReadiness(TOKEN, reading ? Readiness.READABLE : Readiness.WRITABLE);
            assertThat(reading ? seen.isWritable() : seen.isReadable())
                    .as("the other direction")
                    .isFalse();
            poll.deregister(pair.left());
        }
    }

    @Test
    @DisplayName("tip-10: a pipe's reader hears that the writer has gone, and the writer that the reader has")
    void theEndsOfAPipeHearOfEachOther() {
        Pipe first = pipe();
        poll.register(first.source(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        assertThat(pollNow()).isEmpty();
        first.sink().close();
        awaitReadiness(TOKEN, Readiness.READABLE);
        assertThat(Bytes.readOnce(first.source(), 1)).isEqualTo(Io.EOF);
        first.source().close();

        Pipe second = pipe();
        Bytes.fill(second.sink());
        poll.register(second.sink(), TOKEN, Interest.WRITABLE, Trigger.LEVEL);
        assertThat(pollNow()).isEmpty();
        second.source().close();
        awaitReadiness(TOKEN, Readiness.WRITABLE);
    }

    @Test
    @DisplayName("A listener is readable while a connection waits, a connecting stream writable when it stands")
    void listenAndConnect() throws IOException {
        TcpListener listener = closing(net().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        poll.register(listener, 1, Interest.READABLE, Trigger.LEVEL);
        assertThat(pollNow()).isEmpty();

        TcpStream client = closing(net().connect(listener.localAddress()));
        poll.register(client, 2, Interest.READ_WRITE, Trigger.EDGE);
        awaitReadiness(2, Readiness.WRITABLE);
        assertThat(client.finishConnect()).isTrue();

        awaitReadiness(1, Readiness.READABLE);
        TcpStream accepted = Objects.requireNonNull(listener.accept());
        assertThat(listener.accept()).isNull();
        assertThat(pollNow()).extracting(Event::token).doesNotContain(1L);
        poll.register(closing(accepted), 3, Interest.READABLE, Trigger.EDGE);
        Bytes.write(client, 5);
        awaitReadiness(3, Readiness.READABLE);
        assertThat(Bytes.drain(accepted)).isEqualTo(5);

        Bytes.write(accepted, 6);
        awaitReadiness(2, Readiness.READABLE);
        assertThat(Bytes.drain(client)).isEqualTo(6);
    }

    @Test
    @DisplayName(
            "mio-6, mio-7: a stream that was registered while it connected is reported when it was full and can be written")
    void writableLongAfterTheConnect() throws IOException {
        TcpListener listener = closing(net().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        for (Trigger trigger : new Trigger[] {Trigger.EDGE, Trigger.LEVEL}) {
            TcpStream client = closing(net().connect(listener.localAddress()));
            poll.register(client, 1, Interest.WRITABLE, trigger);
            awaitReadiness(1, Readiness.WRITABLE);
            assertThat(client.finishConnect()).isTrue();
            Notifier.waitFor(listener, Interest.READABLE, SOON);
            TcpStream accepted = closing(Objects.requireNonNull(listener.accept()));
            do {
                Bytes.fill(client); // the system may take more when its peer has some
            } while (!pollNow().isEmpty());
            Background<Boolean> reader = Background.run(() -> {
                Notifier.waitFor(accepted, Interest.READABLE, SOON);
                while (Bytes.drain(accepted) > 0) {
                    Notifier.waitFor(accepted, Interest.READABLE, Duration.ofMillis(50));
                }
            });

            awaitReadiness(1, Readiness.WRITABLE);
            reader.result();
            client.close();
        }
    }

    @Test
    @DisplayName("A megabyte goes through a small pipe by EDGE events alone, and no edge is lost")
    void edgesCarryALongTransfer() {
        Pipe pipe = pipe();
        long total = 1 << 20;
        poll.register(pipe.sink(), 1, Interest.WRITABLE, Trigger.EDGE);
        poll.register(pipe.source(), 2, Interest.READABLE, Trigger.EDGE);
        long sent = 0;
        long received = 0;
        while (received < total) {
            for (Event event : pollSoon()) {
                if (event.token() == 1 && sent < total) {
                    sent += Bytes.fill(pipe.sink());
                } else if (event.token() == 2) {
                    received += Bytes.drain(pipe.source());
                }
            }
        }
        assertThat(received).isEqualTo(sent);
    }
}
