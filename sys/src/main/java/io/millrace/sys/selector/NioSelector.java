package io.millrace.sys.selector;

import io.millrace.sys.Bits;
import io.millrace.sys.Family;
import io.millrace.sys.NioHandle;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The selector of {@code java.nio}: on any platform, for channels only.
 *
 * <p>NIO has some peculiarities, which are handled here. It is level-triggered only: see {@link EmulatingSelector}. A
 * cancelled key lives until the next select, and registering again before that throws; so a removal is flushed by a
 * select that does not wait (but see {@link #detach}). A select by an interrupted thread returns at once, so the
 * interrupt status is cleared during the wait and restored afterwards. OP_CONNECT left on after the connection is
 * established makes it spin, so {@link #isStale} asks for a change to OP_WRITE.
 */
final class NioSelector extends EmulatingSelector {
    /** How many ready channels a removal may look at. */
    private static final int LOOKS_FOR_A_REMOVAL = 16;

    private final java.nio.channels.Selector selector;
    private final Consumer<SelectionKey> gather = this::gather;

    /** What the last select found and was not reported yet: more may be ready than a caller takes at once. */
    private @Nullable Entry[] found = new Entry[64];

    private int[] foundReady = new int[64];
    private int[] foundQuestion = new int[64];
    private int foundFrom;
    private int foundTo;

    /** How many removals may wait for the next select, because the last flush had to look at many channels. */
    private int patience;

    /** How many ready channels all flushes have looked at. */
    long looks;

    /**
     * Whether a select that does not wait has consumed a pending wake-up, which is meant for the next wait: see {@link
     * #flush}.
     */
    private volatile boolean woken;

    private NioSelector(java.nio.channels.Selector selector) {
        this.selector = selector;
    }

    static Selector open() throws IOException {
        return new NioSelector(java.nio.channels.Selector.open());
    }

    @Override
    public String name() {
        return "nio";
    }

    @Override
    public Family family() {
        return Family.CHANNEL;
    }

    @Override
    void check(SystemHandle handle) throws IOException {
        SelectableChannel channel = ((NioHandle) handle).channel();
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        if (!channel.provider().equals(selector.provider())) {
            throw new IllegalArgumentException("the channel " + channel + " comes from " + channel.provider()
                    + ", the selector from " + selector.provider() + "; open both from one provider");
        }
    }

    @Override
    void attach(Entry entry) throws IOException {
        SelectableChannel channel = ((NioHandle) entry.handle).channel();
        try {
            channel.register(selector, ops(entry), entry);
        } catch (CancelledKeyException e) {
            // It was removed a moment ago and is added again: the old key goes with the next select.
            flush();
            channel.register(selector, ops(entry), entry);
        }
    }

    @Override
    void watch(Entry entry) {
        SelectionKey key = keyOf(entry);
        if (key != null && key.isValid()) {
            try {
                key.interestOps(ops(entry));
            } catch (CancelledKeyException e) {
                assert !key.isValid() : "closed by its owner between the two lines above: silent for ever";
            }
        }
    }

    /**
     * Flushes, which frees the key, and the descriptor of a channel that is already closed. But a select looks at
     * everything that is ready, so thousands of connections whose peers leave together would be closed in quadratic
     * time. Therefore, after a flush that looked at many, the next few closed connections keep their descriptors until
     * the next select, which comes soon if there is so much to do. Their peers have already been told of the end; one
     * that keeps sending is refused a little later. For anything else, such as a listener's port, closing the
     * descriptor itself is what matters.
     */
    @Override
    void detach(Entry entry) {
        SelectionKey key = keyOf(entry);
        if (key != null) {
            key.cancel();
        }
        if (patience > 0 && ((NioHandle) entry.handle).isPeerTold()) {
            patience--;
            return;
        }
        try {
            flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    boolean isStale(Entry entry) {
        SelectionKey key = keyOf(entry);
        try {
            return key != null && key.isValid() && key.interestOps() != ops(entry);
        } catch (CancelledKeyException e) {
            return false; // closed by its owner between the two calls
        }
    }

    @Override
    void block(long timeoutNanos) throws IOException {
        if (foundFrom < foundTo) {
            return;
        }
        foundFrom = 0;
        foundTo = 0;
        patience = 0;
        woken = false;
        boolean interrupted = Thread.interrupted();
        try {
            if (timeoutNanos == 0) {
                selector.selectNow(gather);
            } else {
                // NIO's 0 means for ever.
                selector.select(gather, timeoutNanos < 0 ? 0 : Math.max(1, Millis.ceil(timeoutNanos)));
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs inside select, under NIO's locks, so it only stores the key. */
    private void gather(SelectionKey key) {
        if (foundTo == found.length) {
            found = Arrays.copyOf(found, foundTo * 2);
            foundReady = Arrays.copyOf(foundReady, foundTo * 2);
            foundQuestion = Arrays.copyOf(foundQuestion, foundTo * 2);
        }
        int ready;
        try {
            ready = translate(key.readyOps());
        } catch (CancelledKeyException e) {
            return; // closed by its owner during the select: silent for ever
        }
        Entry entry = (Entry) key.attachment();
        found[foundTo] = entry;
        foundReady[foundTo] = ready;
        // Without the lock: what is asked does not change during a wait.
        foundQuestion[foundTo] = entry.question;
        foundTo++;
    }

    private void flush() throws IOException {
        int ready = selector.selectNow(NioSelector::ignore);
        looks += ready;
        patience = ready / LOOKS_FOR_A_REMOVAL;
        if (woken) {
            selector.wakeup();
        }
    }

    private static void ignore(SelectionKey key) {
        // Level-triggered: what is ready will be found again by the next wait.
    }

    @Override
    void collect() {
        while (foundFrom < foundTo && !full()) {
            Entry entry = found[foundFrom];
            found[foundFrom] = null;
            if (entry != null) {
                report(entry, foundQuestion[foundFrom], foundReady[foundFrom]);
            }
            foundFrom++;
        }
    }

    @Override
    public void wake() {
        woken = true;
        selector.wakeup();
    }

    @Override
    public void close() {
        releaseAll();
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable SelectionKey keyOf(Entry entry) {
        return ((NioHandle) entry.handle).channel().keyFor(selector);
    }

    private static int ops(Entry entry) {
        return ops((NioHandle) entry.handle, entry.watched);
    }

    static int ops(NioHandle handle, int watched) {
        SelectableChannel channel = handle.channel();
        int ops = 0;
        if ((watched & Bits.READABLE) != 0) {
            ops |= SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
        }
        if ((watched & Bits.WRITABLE) != 0) {
            boolean connecting = channel instanceof SocketChannel socket && !socket.isConnected();
            ops |= connecting ? SelectionKey.OP_CONNECT : SelectionKey.OP_WRITE;
        }
        return ops & channel.validOps();
    }

    static int translate(int readyOps) {
        int bits = 0;
        if ((readyOps & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT)) != 0) {
            bits |= Bits.READABLE;
        }
        if ((readyOps & (SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT)) != 0) {
            bits |= Bits.WRITABLE;
        }
        return bits;
    }

    @Override
    public String toString() {
        return "nio selector, " + selector;
    }
}
