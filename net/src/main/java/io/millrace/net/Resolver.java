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
 * Resolves host names without blocking a loop: each look-up waits on a separate virtual thread.
 *
 * <p>The answer can be awaited in two ways: as a {@link Source} on a poll, which is readable when the answer is there,
 * and as a future.
 *
 * {@snippet :
 * Resolver.Lookup lookup = Resolver.system().lookUp("example.org");
 * poll.register(lookup, TOKEN, Interest.READABLE, Trigger.ONESHOT);
 * // when TOKEN is ready:
 * for (InetAddress address : lookup.result()) { connect(address); }
 * }
 *
 * <p><b>Threads.</b> Any thread may call any method; none waits.
 *
 * <h2>Portability</h2>
 * The system's look-up, as in {@link InetAddress#getAllByName}, with its caches and its order. It cannot be
 * interrupted: a look-up that is closed continues until the system answers, and its answer is dropped.
 */
public final class Resolver {
    private static final Resolver SYSTEM = new Resolver(name -> List.of(InetAddress.getAllByName(name)));

    /** Looks up names. May block. */
    @FunctionalInterface
    public interface Directory {
        /**
         * Looks up a name, on a virtual thread.
         *
         * @param name a host name, or an address as text
         * @return its addresses, at least one
         * @throws IOException if there is none, for example {@link UnknownHostException}
         */
        List<InetAddress> addressesOf(String name) throws IOException;
    }

    private final Directory directory;

    private Resolver(Directory directory) {
        this.directory = directory;
    }

    /**
     * Returns the system's resolver.
     *
     * @return always the same one
     */
    public static Resolver system() {
        return SYSTEM;
    }

    /**
     * Returns a resolver over a directory of yours: a fixed table, a cache, a test.
     *
     * @param directory called on a virtual thread for each look-up
     * @return a resolver
     */
    public static Resolver over(Directory directory) {
        return new Resolver(Objects.requireNonNull(directory, "directory"));
    }

    /**
     * Starts to look up a name.
     *
     * @param name a host name, or an address as text
     * @return the look-up in progress
     */
    public Lookup lookUp(String name) {
        Lookup lookup = new Lookup(Objects.requireNonNull(name, "name"));
        Thread.ofVirtual().name("millrace-resolve " + name).start(() -> lookup.run(directory));
        return lookup;
    }

    /** A look-up in progress; readable when it has succeeded or failed. */
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
         * Returns the answer as a future. Cancelling it does not end the look-up.
         *
         * @return completes with at least one address, or with the failure
         */
        public CompletableFuture<List<InetAddress>> future() {
            return future.copy();
        }

        /**
         * Returns whether it has ended.
         *
         * @return true if {@link #result} returns an answer or throws
         */
        public boolean isDone() {
            return future.isDone();
        }

        /**
         * Returns the answer.
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
                case CANCELLED -> throw failure(null); // impossible: the future itself is never given out
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

        /** Deregisters; the answer is dropped. Idempotent. */
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
