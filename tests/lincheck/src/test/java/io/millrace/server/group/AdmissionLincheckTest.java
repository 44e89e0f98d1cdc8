package io.millrace.server.group;

import io.millrace.lincheck.Race;
import io.millrace.server.support.ServerSettings;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who comes in while a server or client is closed: {@link Connections#admit} and {@link Connections#closeAdmission}. */
class AdmissionLincheckTest {
    private static final int INTERLEAVINGS = 120;
    private static final InetAddress SOMEONE = InetAddress.getLoopbackAddress();

    private static final class AdmissionRace extends Race.OfThree {
        final Connections connections = new Connections(new ServerSettings(), Integer.MAX_VALUE, Integer.MAX_VALUE);
        volatile @Nullable CompletableFuture<Void> ended;

        private void comeAndGo() {
            if (connections.admit(SOMEONE) == Connections.Admission.TAKEN) {
                CompletableFuture<Void> end = ended;
                expect(end == null || !end.isDone(), "all have ended, though one is in");
                connections.leave(SOMEONE);
            }
        }

        @Override
        protected void longer() {
            comeAndGo();
            comeAndGo();
        }

        @Override
        protected void shorter() {
            ended = connections.closeAdmission();
            expect(connections.admit(SOMEONE) == Connections.Admission.CLOSED, "one was let in after the close");
        }

        @Override
        protected void third() {
            comeAndGo();
        }

        @Override
        protected void afterwards() {
            CompletableFuture<Void> end = ended;
            expect(end != null && end.isDone(), "nobody is in, and nobody is told");
        }
    }

    @Test
    void theLastOneOutOrTheCloseTellsTheEnd_end4() {
        // Not AdmissionRace::new: behind that the checker takes what the race has for one thread's own.
        Race.explore(INTERLEAVINGS, () -> new AdmissionRace());
    }

    private static final class LastOneOut extends Race {
        final Connections connections = new Connections(new ServerSettings(), Integer.MAX_VALUE, Integer.MAX_VALUE);
        volatile @Nullable CompletableFuture<Void> ended;

        LastOneOut() {
            expect(connections.admit(SOMEONE) == Connections.Admission.TAKEN, "it is open");
        }

        @Override
        protected void longer() {
            ended = connections.closeAdmission();
        }

        @Override
        protected void shorter() {
            connections.leave(SOMEONE);
        }

        @Override
        protected void afterwards() {
            CompletableFuture<Void> end = ended;
            expect(end != null && end.isDone(), "nobody is in, and nobody is told");
        }
    }

    @Test
    void theLastOneOutDuringTheCloseIsNoticed_end4() {
        Race.explore(INTERLEAVINGS, () -> new LastOneOut());
    }

    /** What enters while the server is closed: whoever cuts short what is left must find it, or it does not enter. */
    private static final class Entering extends Race {
        final Connections connections = new Connections(new ServerSettings(), Integer.MAX_VALUE, Integer.MAX_VALUE);
        volatile boolean entered;
        volatile boolean found;

        @Override
        protected void longer() {
            entered = connections.tryEnter("a conversation");
        }

        @Override
        protected void shorter() {
            connections.closeAdmission();
            found = connections.remaining().containsKey("a conversation");
        }

        @Override
        protected void afterwards() {
            expect(found || !entered, "it has entered, and nobody knows");
            if (entered) {
                connections.exit("a conversation");
            }
            expect(connections.closeAdmission().isDone(), "nobody is in, and nobody is told");
        }
    }

    @Test
    void whatEntersIsFoundByTheClose_vt6() {
        Race.explore(INTERLEAVINGS, () -> new Entering());
    }
}
