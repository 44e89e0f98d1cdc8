package io.millrace.poll;

import io.millrace.poll.internal.CloseObserver;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.poll.internal.Slab;
import io.millrace.sys.Bits;
import io.millrace.sys.Family;
import io.millrace.sys.Selector;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The registrations of a poll, and the control calls: the half of {@link Poll} that any thread may call.
 *
 * <p>Control calls are serialized by one lock, which is never held while user code runs, the kernel waits, or a
 * descriptor is closed (see {@link KernelHandle}). The polling thread reads without it: {@link #node} and {@link
 * #timers} are published, and {@link Node#terms} is replaced as a whole.
 */
@SuppressWarnings("ReferenceEquality") // compares clocks, nodes and terms by identity on purpose
final class Registry {
    final Clock clock;
    private final Selector selector;
    private final ReadinessQueue queue;
    private final Runnable wakeSleeper;

    private final ReentrantLock control = new ReentrantLock();
    private final Slab<Node> nodes = new Slab<>();
    /** The registered timers; replaced as a whole under the lock. */
    private volatile Timer<?>[] timers = {};

    private volatile boolean closed;

    Registry(Selector selector, Clock clock, ReadinessQueue queue, Runnable wakeSleeper) {
        this.selector = selector;
        this.clock = clock;
        this.queue = queue;
        this.wakeSleeper = wakeSleeper;
    }

    void register(SourceHandle handle, RegistrationTerms terms, @Nullable Object sink) {
        switch (handle) {
            case Registration registration -> registerSoft(registration, terms, sink);
            case KernelHandle os -> registerOs(os, terms, sink);
        }
    }

    void reregister(SourceHandle handle, RegistrationTerms terms) {
        control.lock();
        try {
            replaceTerms(registeredNode(handle, "reregister"), terms);
        } finally {
            control.unlock();
        }
    }

    void deregister(SourceHandle handle) {
        control.lock();
        try {
            release(registeredNode(handle, "deregister"));
        } finally {
            control.unlock();
        }
    }

    private void registerSoft(Registration registration, RegistrationTerms terms, @Nullable Object sink) {
        SoftNode node = registration.node;
        control.lock();
        try {
            requireOpen("register");
            if (node.isClosed()) {
                throw new IllegalStateException("cannot register: the source is closed");
            }
            if (node.timer != null && node.timer.clock() != clock) {
                throw new IllegalArgumentException("cannot register: the timer's clock is the " + node.timer.clock()
                        + ", the poll's is the " + clock + "; build both with the same clock");
            }
            if (!node.bind(queue)) {
                throw new IllegalStateException("cannot register: the source belongs to another poll;"
                        + " a source in software stays with its first one");
            }
            // Not earlier: from here on, this poll's lock guards the terms, and no other poll's.
            if (node.terms != null) {
                throw new IllegalStateException("cannot register: already registered" + remedyReregister(node));
            }
            registration.bindTo(this);
            node.sink = sink;
            nodes.insert(node);
            node.terms = terms;
            if (node.timer != null) {
                Timer<?>[] more = Arrays.copyOf(timers, timers.length + 1);
                more[timers.length] = node.timer;
                timers = more;
            }
            if (node.isClosed()) {
                // Closed by another thread, which did not see that it is bound: see Registration.close.
                release(node);
                throw new IllegalStateException("cannot register: the source is closed");
            }
        } finally {
            control.unlock();
        }
        notifyOf(node);
    }

    /** Makes the poll look at a node that is ready, or at a timer whose deadline it does not know yet. */
    private void notifyOf(SoftNode node) {
        if (node.readiness() != 0 || node.timer != null) {
            node.enqueue();
        }
    }

    private void registerOs(KernelHandle handle, RegistrationTerms terms, @Nullable Object sink) {
        OsNode node = new OsNode(this, handle);
        node.sink = sink;
        control.lock();
        try {
            requireOpen("register");
            if (!handle.isAlwaysReady() && handle.family() != selector.family()) {
                throw new IllegalArgumentException(wrongFamily(handle));
            }
            // Before a use of the descriptor is taken: see KernelHandle.
            requireAttached(handle, node);
            try {
                if (handle.isAlwaysReady() || !watch(node, terms)) {
                    registerAlwaysReady(node, terms);
                }
            } catch (ClosedChannelException e) {
                throw new IllegalStateException("cannot register " + handle + ": it is closed", e);
            } catch (ErrnoException e) {
                throw refused(handle, e);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot register " + handle, e);
            } finally {
                if (node.registered().terms == null) {
                    handle.clearAttachment(node);
                }
            }
        } finally {
            control.unlock();
        }
        wakeForControl();
    }

    /**
     * Makes the kernel watch it. Returns false if the kernel does not watch such files, because they are always ready
     * (EPERM from epoll).
     */
    private boolean watch(OsNode node, RegistrationTerms terms) throws IOException {
        long key = nodes.insert(node);
        node.terms = terms;
        boolean added = false;
        try {
            selector.add(node.handle.system(), key, terms.interest(), terms.trigger());
            added = true;
        } catch (ErrnoException e) {
            if (!e.is(Errno.EPERM)) {
                throw e;
            }
        } finally {
            if (!added) {
                forget(node);
            }
        }
        return added;
    }

    /**
     * Registers a software node that is always ready in place of the file; trigger and interest then work as for any
     * other node.
     */
    private void registerAlwaysReady(OsNode file, RegistrationTerms terms) throws ClosedChannelException {
        if (!file.handle.system().acquire()) {
            throw new ClosedChannelException();
        }
        SoftNode node = new SoftNode(null, file);
        node.sink = file.sink;
        file.always = node;
        boolean bound = node.bind(queue);
        assert bound;
        nodes.insert(node);
        node.terms = terms;
        node.set(Bits.READABLE | Bits.WRITABLE);
    }

    private void requireAttached(KernelHandle handle, OsNode node) {
        if (!handle.attach(node, selector.emulatesTriggers())) {
            throw new IllegalStateException("cannot register " + handle + ": already registered"
                    + (handle.attachment() instanceof OsNode other && other.registry != this
                            ? " with another poll; deregister it there first"
                            : remedyReregister(handle)));
        }
    }

    private RuntimeException refused(KernelHandle handle, ErrnoException e) {
        if (e.is(Errno.EBADF)) {
            return new IllegalArgumentException("cannot register " + handle + ": not an open file descriptor", e);
        }
        if (e.is(Errno.EEXIST)) {
            return new IllegalStateException(
                    "cannot register " + handle + ": this descriptor number is registered already, by another source",
                    e);
        }
        return new UncheckedIOException("cannot register " + handle, e);
    }

    private String wrongFamily(KernelHandle handle) {
        return selector.family() == Family.CHANNEL
                ? "cannot register " + handle + ": the backend " + selector.name()
                        + " takes channels, not descriptors; make the source with Net.of(poll), or open the poll on a"
                        + " native backend"
                : "cannot register " + handle + ": the backend " + selector.name()
                        + " takes descriptors, not channels; make the source with Net.of(poll), or open the poll with"
                        + " backend nio";
    }

    private static String remedyReregister(Object what) {
        return " (" + what + "); use reregister to change it";
    }

    private Node registeredNode(SourceHandle handle, String doing) {
        requireOpen(doing);
        Node node = switch (handle) {
            case Registration registration -> registration.node;
            case KernelHandle os -> os.attachment() instanceof OsNode attached ? attached.registered() : null;
        };
        if (node == null || node.terms == null || nodes.get(node.key()) != node) {
            throw new IllegalStateException(
                    "cannot " + doing + " " + handle + ": it is not registered with this poll; call register first");
        }
        return node;
    }

    /** Called under the control lock. */
    private void replaceTerms(Node node, RegistrationTerms terms) {
        switch (node) {
            case SoftNode soft -> {
                soft.terms = terms;
                notifyOf(soft);
            }
            case OsNode os -> {
                // The terms are set first: an event of the new terms may be read before modify returns, and under the
                // old terms it would be dropped; an edge or a one-shot would be lost for ever.
                RegistrationTerms before = os.terms;
                os.terms = terms;
                try {
                    selector.modify(os.handle.system(), os.key(), terms.interest(), terms.trigger());
                } catch (IOException e) {
                    os.terms = before;
                    throw new UncheckedIOException("cannot reregister " + os.handle, e);
                }
                os.muted = false;
                wakeForControl();
            }
        }
    }

    /** For {@link Registration#update}. */
    void update(SoftNode node, Interest interest, Trigger trigger) {
        control.lock();
        try {
            requireOpen("update");
            RegistrationTerms terms = node.terms;
            if (terms == null) {
                throw new IllegalStateException(
                        "cannot update: the registration is not registered; call Poll.register first");
            }
            replaceTerms(node, RegistrationTerms.of(terms.token(), interest, trigger));
        } finally {
            control.unlock();
        }
    }

    /** Ends the registration, if any, of a source that is being closed. */
    void detach(Node node) {
        Object sink;
        control.lock();
        try {
            // Even if the poll is being closed: the lock ensures that the poll's release is not the last one, see
            // KernelHandle.
            if (node.terms == null) {
                return;
            }
            sink = node.sink;
            release(node);
        } finally {
            control.unlock();
        }
        if (sink instanceof CloseObserver told) {
            told.onSourceClosed();
        }
    }

    /** Called under the control lock, for a registered node. */
    private void release(Node node) {
        long key = node.key();
        forget(node);
        switch (node) {
            case SoftNode soft -> {
                soft.cancelDelays();
                OsNode file = soft.file;
                if (file != null) {
                    soft.close();
                    file.handle.system().release(); // never the last use while it is attached: see KernelHandle
                    file.handle.clearAttachment(file);
                }
                Timer<?> timer = soft.timer;
                if (timer != null) {
                    timers = Arrays.stream(timers)
                            .filter(other -> other != timer)
                            .toArray(Timer<?>[]::new);
                }
            }
            case OsNode os -> {
                try {
                    selector.remove(os.handle.system(), key);
                } catch (IOException e) {
                    throw new UncheckedIOException("cannot deregister " + os.handle, e);
                } finally {
                    os.handle.clearAttachment(os); // not earlier: see KernelHandle
                }
                wakeForControl();
            }
        }
    }

    private void forget(Node node) {
        node.terms = null;
        node.sink = null;
        nodes.remove(node);
    }

    /** Reports that a source met would-block; matters only if triggers are emulated. Any thread. */
    void markDrained(OsNode node, int readiness) {
        if (!closed && selector.rearm(node.key(), readiness)) {
            wakeSleeper.run();
        }
    }

    private void wakeForControl() {
        if (!selector.controlsAtOnce()) {
            wakeSleeper.run();
        }
    }

    /**
     * Silences a hang-up outside the interest, which the kernel would report for ever: registered as an edge, it is
     * reported once (mio-29).
     */
    void mute(OsNode node, RegistrationTerms terms) {
        control.lock();
        try {
            if (node.terms == terms && !node.muted && !closed) {
                node.muted = true;
                selector.modify(node.handle.system(), node.key(), terms.interest(), Bits.EDGE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot mute " + node, e);
        } finally {
            control.unlock();
        }
    }

    /** Returns the registration that has this key now, or null. Any thread, without the lock. */
    @Nullable
    Node node(long key) {
        return nodes.get(key);
    }

    /** Returns the registered timers; must not be modified. Any thread, without the lock. */
    Timer<?>[] timers() {
        return timers;
    }

    /**
     * Passes on a line about each registration, without the lock: what changes meanwhile may be missed or shown late.
     */
    void describe(Consumer<String> each) {
        for (int i = 0; i < nodes.bound(); i++) {
            Node node = nodes.at(i);
            RegistrationTerms terms = node == null ? null : node.terms;
            if (node != null && terms != null) {
                Object sink = node.sink;
                String what = switch (node) {
                    case OsNode os -> os.handle.toString();
                    case SoftNode soft -> soft.kind();
                };
                each.accept(what + " " + Readiness.of(terms.interest()) + (sink == null ? "" : " for " + sink));
            }
        }
    }

    /** Passes on the sink of each registration, without the lock. */
    void forEachSink(Consumer<Object> each) {
        for (int i = 0; i < nodes.bound(); i++) {
            Node node = nodes.at(i);
            Object sink = node == null ? null : node.sink;
            if (sink != null) {
                each.accept(sink);
            }
        }
    }

    int size() {
        control.lock();
        try {
            return nodes.size();
        } finally {
            control.unlock();
        }
    }

    boolean isClosed() {
        return closed;
    }

    void requireOpen(String doing) {
        if (closed) {
            throw new ClosedPollException(doing);
        }
    }

    /** Makes control calls have no effect from now on. */
    void close() {
        control.lock();
        try {
            closed = true;
        } finally {
            control.unlock();
        }
    }

    /** Ends every registration and closes the selector; once, after {@link #close}, when no thread waits. */
    void release() {
        control.lock();
        try {
            for (int i = 0; i < nodes.bound(); i++) {
                Node node = nodes.at(i);
                if (node != null) {
                    release(node);
                }
            }
        } finally {
            control.unlock();
        }
        // Without the lock: nothing is registered and nothing will be, and a removal that is still queued may close a
        // descriptor.
        selector.close();
    }
}
