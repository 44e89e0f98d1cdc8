package io.millrace.net;

import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Turns names into addresses without holding up a loop: each look-up waits on a virtual thread of its own.
 *
 * <p>The answer can be awaited in two ways: as a {@link Source} on a poll, readable when it is there, and as a future.
 *
 * {@snippet :
 * Resolver.Lookup lookup = Resolver.system().lookUp("example.org");
 * poll.register(lookup, TOKEN, Interest.READABLE, Trigger.ONESHOT);
 * // when TOKEN is ready:
 * for (InetAddress address : lookup.result()) { connect(address); }
 * }
 *
 * <p><b>Threads.</b> Any thread may call anything here; nothing waits.
 *
 * <h2>Portability</h2>
 * The system's look-up, as {@link InetAddress#getAllByName} does it, with its caches and its order. It can't be interrupted: a look-up that is
 * closed goes on until the system answers, and its answer is dropped.
 */
public final class Resolver {
    private static final Resolver SYSTEM = new Resolver(name -> List.of(InetAddress.getAllByName(name)));

    /** How a name is looked up; it may wait. */
    @FunctionalInterface
    public interface Directory {
        /**
         * Looks a name up, on a virtual thread.
         *
         * @param name the host's name, or an address as text
         * @return its addresses, at least one
         * @throws IOException if there is none, e.g. {@link UnknownHostException}
         */
        List<InetAddress> addressesOf(String name) throws IOException;
    }

    private final Directory directory;

    private Resolver(Directory directory) {
        this.directory = directory;
    }

    /**
     * The system's resolver.
     *
     * @return the same one every time
     */
    public static Resolver system() {
        return SYSTEM;
    }

    /**
     * A resolver over a directory of your own: a fixed table, a cache, a test.
     *
     * @param directory asked on a virtual thread for each look-up
     * @return a resolver
     */
    public static Resolver over(Directory directory) {
        return new Resolver(Objects.requireNonNull(directory, "directory"));
    }

    /**
     * Begins to look a name up.
     *
     * @param name the host's name, or an address as text
     * @return the look-up under way
     */
    public Lookup lookUp(String name) {
        Lookup lookup = new Lookup(Objects.requireNonNull(name, "name"));
        Thread.ofVirtual().name("millrace-resolve " + name).start(() -> lookup.run(directory));
        return lookup;
    }

    /** A look-up under way; readable when it has ended, well or not. */
    public static final class Lookup implements Source, AutoCloseable {
        private final String name;
        private final Registration registration = new Registration();
        private final CompletableFuture<List<InetAddress>> future = new CompletableFuture<>();

        private Lookup(String name) {
            this.name = name;
        }

        private void run(Directory directory) {
            try {
                List<InetAddress> found = List.copyOf(directory.addressesOf(name));
                if (found.isEmpty()) {
                    throw new UnknownHostException(name + ": the directory has no address");
                }
                future.complete(found);
            } catch (Throwable thrown) {
                future.completeExceptionally(thrown);
            }
            registration.setReadiness(Readiness.READABLE);
        }

        @Override
        public SourceHandle handle() {
            return registration;
        }

        /**
         * The same answer as a future; cancelling it does not end the look-up.
         *
         * @return completes with at least one address, or with what went wrong
         */
        public CompletableFuture<List<InetAddress>> future() {
            return future.copy();
        }

        /**
         * Whether it has ended.
         *
         * @return true if {@link #result} has an answer or throws
         */
        public boolean isDone() {
            return future.isDone();
        }

        /**
         * The answer.
         *
         * @return at least one address
         * @throws IOException if the name could not be resolved
         * @throws IllegalStateException if it has not ended yet
         */
        public List<InetAddress> result() throws IOException {
            return switch (future.state()) {
                case SUCCESS -> future.resultNow();
                case RUNNING ->
                    throw new IllegalStateException(
                            "the look-up of " + name + " has not ended; wait until it is readable, or use future()");
                case FAILED -> throw failure(future.exceptionNow());
                case CANCELLED -> throw failure(null); // nobody has the future itself, so this does not happen
            };
        }

        private IOException failure(@Nullable Throwable thrown) {
            if (thrown instanceof UnknownHostException) {
                UnknownHostException unknown = new UnknownHostException("cannot resolve " + name
                        + ": no such host is known here; check the name and the resolver's settings");
                unknown.initCause(thrown);
                return unknown;
            }
            return new IOException("cannot resolve " + name + ": " + thrown, thrown);
        }

        /** Is not told of the end any more. Idempotent. */
        @Override
        public void close() {
            registration.close();
        }

        @Override
        public String toString() {
            return "look-up of " + name + ", " + future.state();
        }
    }
}
