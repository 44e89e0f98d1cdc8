package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.ReadResult;
import io.millrace.engine.WriteResult;
import io.millrace.net.Io;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.net.UdpSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What every {@link CompletionEventManager} guarantees for its descriptors: each read and write ends once, in one of
 * the ways that its result names. It must pass {@link EventManagerContract}, {@link AlarmContract} and {@link
 * EndingContract} as well.
 */
@DisplayName("Completion descriptors")
public abstract class CompletionEventManagerContract extends ManagerContract<CompletionEventManager> {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Records the results it gets, and whether it was called on the right thread. */
    private final class Results<T> implements Consumer<T> {
        final ConcurrentLinkedQueue<T> all = new ConcurrentLinkedQueue<>();
        final AtomicInteger wrong = new AtomicInteger();
        final Set<Thread> threads = ConcurrentHashMap.newKeySet();

        @Override
        public void accept(T result) {
            threads.add(Thread.currentThread());
            if (!isOutside() || !manager.inManager()) {
                wrong.incrementAndGet();
            }
            all.add(result);
        }

        T await() {
            Await.until("a result", () -> !all.isEmpty());
            return Objects.requireNonNull(all.peek());
        }

        <R extends T> R await(Class<R> type) {
            T result = await();
            assertThat(result).isInstanceOf(type);
            assertThat(all).hasSize(1);
            assertThat(wrong).as("inside the call, or outside the manager").hasValue(0);
            return type.cast(result);
        }
    }

    /** For subclasses. */
    protected CompletionEventManagerContract() {}

    private static ByteBuffer kilobyte() {
        return ByteBuffer.allocateDirect(1024);
    }

    private CompletionDescriptor register(TcpStream stream) {
        return closing(manager.registerCompletion(stream));
    }

    private CompletionDescriptor register(UdpSocket socket) {
        return closing(manager.registerCompletion(socket));
    }

    private Results<ReadResult> read(CompletionDescriptor descriptor, Supplier<ByteBuffer> allocator) {
        Results<ReadResult> results = new Results<>();
        handOver(() -> descriptor.read(allocator, results));
        return results;
    }

    private Results<WriteResult> write(CompletionDescriptor descriptor, ByteBuffer... buffers) {
        Results<WriteResult> results = new Results<>();
        handOver(() -> descriptor.write(List.of(buffers), results));
        return results;
    }

    private UdpSocket udp() {
        try {
            return closing(net().udp(ANY));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates bytes whose values show their position. */
    private static ByteBuffer pattern(int size, boolean direct) {
        ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
        for (int i = 0; i < size; i++) {
            bytes.put((byte) (i * 31 + (i >>> 8)));
        }
        return bytes.flip();
    }

    // ---- Reading ----

    @Test
    @DisplayName("grpc-12: a read asks for a buffer when there is something, and gives it back with the bytes in it")
    void aReadGivesTheBytes() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        ByteBuffer buffer = ByteBuffer.allocate(100).position(7);
        AtomicInteger asked = new AtomicInteger();
        Results<ReadResult> results = read(descriptor, () -> {
            asked.incrementAndGet();
            return buffer;
        });
        turns(manager);
        assertThat(asked).as("nothing has come yet").hasValue(0);

        Bytes.write(pair.right(), 5);
        ReadResult.Data data = results.await(ReadResult.Data.class);
        assertThat(data.buffer()).isSameAs(buffer);
        assertThat(data.buffer().position()).isEqualTo(7);
        assertThat(data.buffer().remaining()).isBetween(1, 5);
        assertThat(data.sender()).isNull();
        assertThat(asked).hasValue(1);
    }

    @Test
    @DisplayName("grpc-12: what has come before the read is read too, by direct and by heap buffers")
    void whatIsThereIsRead() {
        SocketPair pair = socketPair();
        Bytes.write(pair.right(), 10);
        CompletionDescriptor descriptor = register(pair.left());
        int got = 0;
        for (int i = 0; got < 10; i++) {
            boolean direct = i % 2 == 0;
            ReadResult.Data data = read(
                            descriptor, () -> direct ? ByteBuffer.allocateDirect(3) : ByteBuffer.allocate(3))
                    .await(ReadResult.Data.class);
            assertThat(data.buffer().remaining()).isBetween(1, 3);
            got += data.buffer().remaining();
        }
        assertThat(got).isEqualTo(10);
    }

    @Test
    @DisplayName("grpc-12: the end of the stream is told after the last byte")
    void theEndIsTold() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        Bytes.write(pair.right(), 4);
        pair.shutDownRight();
        int got = 0;
        while (got < 4) {
            got += read(descriptor, CompletionEventManagerContract::kilobyte)
                    .await(ReadResult.Data.class)
                    .buffer()
                    .remaining();
        }
        read(descriptor, CompletionEventManagerContract::kilobyte).await(ReadResult.EndOfStream.class);
        assertThat(descriptor.isClosed()).as("that is the user's to do").isFalse();
        write(descriptor, pattern(3, true)).await(WriteResult.Written.class);
    }

    @Test
    @DisplayName("grpc-12: a reset fails the read that waits and the write that waits")
    void aResetIsTold() {
        SocketPair reading = socketPair();
        Results<ReadResult> read = read(register(reading.left()), CompletionEventManagerContract::kilobyte);
        reading.resetRight();
        assertThat(read.await(ReadResult.Failed.class).cause()).isNotNull();

        SocketPair writing = socketPair();
        CompletionDescriptor descriptor = register(writing.left());
        Results<WriteResult> write = write(descriptor, ByteBuffer.allocate(64 << 20));
        Await.until("bytes arrive", () -> Bytes.readOnce(writing.right(), 1) == 1);
        writing.right().close();
        WriteResult.Failed failed = write.await(WriteResult.Failed.class);
        assertThat(failed.bytes()).isBetween(1L, 64L << 20);
    }

    @Test
    @DisplayName("grpc-12: a buffer without room fails the read and loses nothing")
    void aBufferWithoutRoomFails() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        Bytes.write(pair.right(), 3);
        Results<ReadResult> results = read(descriptor, () -> ByteBuffer.allocate(0));
        assertThat(results.await(ReadResult.Failed.class).cause()).isNotNull();

        ReadResult.Data data =
                read(descriptor, CompletionEventManagerContract::kilobyte).await(ReadResult.Data.class);
        assertThat(data.buffer().remaining()).isEqualTo(3);
    }

    @Test
    @DisplayName("grpc-12: a second read or write while one is pending is refused, and the first goes on")
    void aSecondIsRefused() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        int size = 32 << 20;
        Results<ReadResult> read = read(descriptor, CompletionEventManagerContract::kilobyte);
        Results<WriteResult> write = write(descriptor, ByteBuffer.allocateDirect(size));
        AtomicInteger late = new AtomicInteger();
        assertThatThrownBy(() ->
                        descriptor.read(CompletionEventManagerContract::kilobyte, result -> late.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> descriptor.write(List.of(pattern(1, true)), result -> late.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);

        Bytes.write(pair.right(), 1);
        read.await(ReadResult.Data.class);
        long[] drained = {0};
        Await.until("all arrives", () -> {
            drained[0] += Bytes.drain(pair.right());
            return drained[0] == size;
        });
        assertThat(write.await(WriteResult.Written.class).bytes()).isEqualTo(size);
        assertThat(late).hasValue(0);
    }

    @Test
    @DisplayName("grpc-12: the next read asked for inside the callback, 20,000 times, needs the stack of one")
    void readsFromTheCallback() {
        int count = 20_000;
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        AtomicInteger got = new AtomicInteger();
        AtomicInteger deepest = new AtomicInteger();
        ConcurrentLinkedQueue<Object> wrong = new ConcurrentLinkedQueue<>();
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        Consumer<ReadResult> again = new Consumer<>() {
            @Override
            public void accept(ReadResult result) {
                if (!(result instanceof ReadResult.Data)) {
                    wrong.add(result);
                    return;
                }
                if (got.get() % 500 == 0) {
                    deepest.accumulateAndGet(stackDepth(), Math::max);
                }
                if (got.incrementAndGet() < count) {
                    handOver(() -> descriptor.read(one::clear, this));
                }
            }
        };
        descriptor.read(one::clear, again);
        for (int sent = 0; sent < count; sent += 1_000) {
            int some = sent;
            Await.until("most have come", () -> got.get() >= some - 3_000);
            Bytes.write(pair.right(), 1_000);
        }
        Await.until("all have come", () -> got.get() == count || !wrong.isEmpty());
        assertThat(wrong).isEmpty();
        assertThat(deepest.get()).isLessThan(200);
    }

    // ---- Writing ----

    @Test
    @DisplayName("grpc-12: a write is done when all of it is taken, however many partial writes that takes")
    void aWriteIsWhole() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        int part = 3 << 20;
        ByteBuffer heap = pattern(part, false);
        ByteBuffer direct = pattern(part, true);
        ByteBuffer readOnly = pattern(part, false).asReadOnlyBuffer();
        Results<WriteResult> results =
                write(descriptor, heap, ByteBuffer.allocate(0), direct, ByteBuffer.allocateDirect(0), readOnly);

        ByteBuffer expected = pattern(part, false);
        ByteBuffer chunk = ByteBuffer.allocate(100_000);
        long[] total = {0};
        List<Long> different = new ArrayList<>();
        Await.until("all arrives", () -> {
            int read = tryRead(pair.right(), chunk.clear());
            for (int i = 0; i < read; i++) {
                if (chunk.get(i) != expected.get((int) ((total[0] + i) % part))) {
                    different.add(total[0] + i);
                }
            }
            total[0] += Math.max(0, read);
            return total[0] == 3L * part;
        });
        assertThat(different).isEmpty();
        assertThat(results.await(WriteResult.Written.class).bytes()).isEqualTo(3L * part);
        assertThat(heap.hasRemaining() || direct.hasRemaining() || readOnly.hasRemaining())
                .isFalse();
        assertThat(tryRead(pair.right(), chunk.clear())).isEqualTo(Io.WOULD_BLOCK);
    }

    private static int tryRead(TcpStream from, ByteBuffer into) {
        try {
            return from.tryRead(into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("grpc-12: a write of nothing is done, outside the call")
    void aWriteOfNothing() {
        CompletionDescriptor descriptor = register(socketPair().left());
        assertThat(write(descriptor).await(WriteResult.Written.class).bytes()).isZero();
        assertThat(write(descriptor, ByteBuffer.allocate(0))
                        .await(WriteResult.Written.class)
                        .bytes())
                .isZero();
    }

    @Test
    @DisplayName("grpc-12: the next write asked for inside the callback; both directions at once")
    void echo() {
        int count = 2_000;
        SocketPair pair = socketPair();
        CompletionDescriptor left = register(pair.left());
        CompletionDescriptor right = register(pair.right());
        AtomicInteger echoed = new AtomicInteger();
        ConcurrentLinkedQueue<Object> wrong = new ConcurrentLinkedQueue<>();
        Runnable serve = new Runnable() {
            @Override
            public void run() {
                right.read(CompletionEventManagerContract::kilobyte, result -> {
                    if (result instanceof ReadResult.Data data) {
                        right.write(List.of(data.buffer()), written -> run());
                    } else if (!(result instanceof ReadResult.Closed)) {
                        wrong.add(result);
                    }
                });
            }
        };
        Runnable ask = new Runnable() {
            @Override
            public void run() {
                left.write(
                        List.of(pattern(1, true)),
                        written -> left.read(CompletionEventManagerContract::kilobyte, result -> {
                            if (!(result instanceof ReadResult.Data data)
                                    || data.buffer().remaining() != 1) {
                                wrong.add(result);
                            } else if (echoed.incrementAndGet() < count) {
                                run();
                            }
                        }));
            }
        };
        serve.run();
        ask.run();
        Await.until("all come back", () -> echoed.get() == count || !wrong.isEmpty());
        assertThat(wrong).isEmpty();
    }

    @Test
    @DisplayName("grpc-12: a connection that is being made is written when it stands, and fails if it never does")
    void aConnectionThatIsBeingMade() throws IOException {
        InetSocketAddress nobody;
        try (TcpListener listener = net().listen(ANY)) {
            nobody = listener.localAddress();
            TcpStream connecting = closing(net().connect(listener.localAddress()));
            CompletionDescriptor descriptor = register(connecting);
            Results<ReadResult> read = read(descriptor, CompletionEventManagerContract::kilobyte);
            Results<WriteResult> write = write(descriptor, pattern(4, true));
            List<TcpStream> accepted = new ArrayList<>();
            Await.until("accepted", () -> {
                try {
                    TcpStream stream = listener.accept();
                    if (stream != null) {
                        accepted.add(closing(stream));
                    }
                    return stream != null;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThat(write.await(WriteResult.Written.class).bytes()).isEqualTo(4);
            Bytes.write(accepted.getFirst(), 2);
            read.await(ReadResult.Data.class);
        }
        TcpStream refused;
        try {
            refused = closing(net().connect(nobody));
        } catch (IOException atOnce) {
            return; // if a refusal does not wait
        }
        CompletionDescriptor descriptor = register(refused);
        Results<ReadResult> read = read(descriptor, CompletionEventManagerContract::kilobyte);
        assertThat(read.await(ReadResult.Failed.class).cause()).isNotNull();
    }

    // ---- Datagrams ----

    @Test
    @DisplayName("grpc-12: a datagram is read whole, with its sender; several buffers are one datagram")
    void datagrams() {
        UdpSocket here = udp();
        UdpSocket there = udp();
        CompletionDescriptor receiver = register(here);
        CompletionDescriptor sender = register(there);
        Results<ReadResult> read = read(receiver, CompletionEventManagerContract::kilobyte);
        Results<WriteResult> sent = new Results<>();
        handOver(() -> sender.write(
                List.of(pattern(3, true), ByteBuffer.allocate(0), pattern(4, false)), here.localAddress(), sent));
        assertThat(sent.await(WriteResult.Written.class).bytes()).isEqualTo(7);
        ReadResult.Data data = read.await(ReadResult.Data.class);
        assertThat(data.sender()).isEqualTo(there.localAddress());
        assertThat(data.buffer().remaining()).isEqualTo(7);
        assertThat(data.buffer().get(data.buffer().position() + 3)).isEqualTo((byte) 0);
        assertThat(data.buffer().get(data.buffer().position() + 4)).isEqualTo((byte) 31);

        // A reply to the sender; and an empty datagram is one, too.
        Results<ReadResult> answer = read(sender, CompletionEventManagerContract::kilobyte);
        Results<WriteResult> empty = new Results<>();
        receiver.write(List.of(ByteBuffer.allocate(0)), data.sender(), empty);
        assertThat(empty.await(WriteResult.Written.class).bytes()).isZero();
        ReadResult.Data nothing = answer.await(ReadResult.Data.class);
        assertThat(nothing.buffer().remaining()).isZero();
        assertThat(nothing.sender()).isEqualTo(here.localAddress());
    }

    @Test
    @DisplayName("grpc-12: a connected datagram socket needs no target; 500 datagrams arrive one by one")
    void connectedDatagrams() throws IOException {
        UdpSocket here = udp();
        UdpSocket there = udp();
        there.connect(here.localAddress());
        CompletionDescriptor receiver = register(here);
        CompletionDescriptor sender = register(there);
        for (int i = 0; i < 500; i++) {
            Results<ReadResult> read = read(receiver, CompletionEventManagerContract::kilobyte);
            int size = 1 + i % 100;
            Results<WriteResult> sent = write(sender, pattern(size, i % 2 == 0));
            assertThat(sent.await(WriteResult.Written.class).bytes()).isEqualTo(size);
            assertThat(read.await(ReadResult.Data.class).buffer().remaining()).isEqualTo(size);
        }
        Results<ReadResult> pending = read(receiver, CompletionEventManagerContract::kilobyte);
        receiver.close();
        pending.await(ReadResult.Closed.class);
    }

    @Test
    @DisplayName("grpc-12: a connection takes no target")
    void aConnectionTakesNoTarget() {
        CompletionDescriptor descriptor = register(socketPair().left());
        AtomicInteger called = new AtomicInteger();
        assertThatThrownBy(() -> descriptor.write(List.of(pattern(1, true)), ANY, result -> called.incrementAndGet()))
                .isInstanceOf(IllegalArgumentException.class);
        write(descriptor, pattern(1, true)).await(WriteResult.Written.class);
        assertThat(called).hasValue(0);
    }

    // ---- Closing ----

    @Test
    @DisplayName(
            "grpc-12: close gives the pending read and write CLOSED once, on the descriptor's thread, and then closes"
                    + " the socket")
    void closeTellsBothAndThenCloses() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        AtomicInteger foundOpen = new AtomicInteger();
        Results<ReadResult> read = new Results<>();
        Results<WriteResult> write = new Results<>();
        descriptor.read(CompletionEventManagerContract::kilobyte, result -> {
            foundOpen.addAndGet(pair.left().isConnected() ? 1 : 0);
            read.accept(result);
        });
        descriptor.write(List.of(ByteBuffer.allocateDirect(64 << 20)), result -> {
            foundOpen.addAndGet(pair.left().isConnected() ? 1 : 0);
            write.accept(result);
        });
        turns(manager);
        handOver(descriptor::close);
        descriptor.close();
        assertThat(descriptor.isClosed()).isTrue();
        read.await(ReadResult.Closed.class);
        write.await(WriteResult.Closed.class);
        Await.until("the socket is closed", () -> !pair.left().isConnected());
        assertThat(foundOpen).as("callbacks that found it open").hasValue(2);
        assertThat(read.threads).hasSize(1).isEqualTo(write.threads);

        AtomicInteger late = new AtomicInteger();
        assertThatThrownBy(() ->
                        descriptor.read(CompletionEventManagerContract::kilobyte, result -> late.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> descriptor.write(List.of(pattern(1, true)), result -> late.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);
        assertThat(descriptor.fd()).isEqualTo(-1);
        turns(manager);
        assertThat(late).hasValue(0);
        assertThat(read.all).hasSize(1);
        assertThat(write.all).hasSize(1);
    }

    @Test
    @DisplayName(
            "grpc-12: a descriptor may be closed from its own callback, and a callback of the close may close again")
    void closedFromInside() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        Results<ReadResult> closed = new Results<>();
        descriptor.write(List.of(pattern(1, true)), result -> {
            descriptor.read(CompletionEventManagerContract::kilobyte, last -> {
                closed.accept(last);
                descriptor.close();
            });
            handOver(descriptor::close);
        });
        closed.await(ReadResult.Closed.class);
        Await.until("the socket is closed", () -> !pair.left().isConnected());
        assertThat(Bytes.readOnce(pair.right(), 1)).isEqualTo(1);
        Await.until("the peer hears of it", () -> Bytes.readOnce(pair.right(), 1) == Io.EOF);
    }

    @Test
    @DisplayName("grpc-12: data, writes and close race: what was asked for ends exactly once")
    void everythingRacesClose() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Results<ReadResult>> reads = new ArrayList<>();
        List<Results<WriteResult>> writes = new ArrayList<>();
        ByteBuffer much = ByteBuffer.allocateDirect(16 << 20).asReadOnlyBuffer();
        for (int round = 0; round < 200; round++) {
            SocketPair pair = SocketPair.connect(net());
            CompletionDescriptor descriptor = manager.registerCompletion(pair.left());
            int first = random.nextInt(2_000);
            int second = random.nextInt(2_000);
            boolean big = random.nextBoolean();
            Background<Boolean> closer = Background.run(() -> {
                Await.spin(first);
                descriptor.close();
            });
            Results<ReadResult> read = new Results<>();
            Results<WriteResult> write = new Results<>();
            if (isTaken(() -> descriptor.read(CompletionEventManagerContract::kilobyte, read))) {
                reads.add(read);
            }
            if (isTaken(() -> descriptor.write(List.of(big ? much.duplicate() : pattern(16, true)), write))) {
                writes.add(write);
            }
            Await.spin(second);
            Bytes.write(pair.right(), 8);
            closer.result();
            Await.until("the socket is closed", () -> !pair.left().isConnected());
            pair.close();
        }
        for (Results<ReadResult> read : reads) {
            assertThat(read.await()).isInstanceOfAny(ReadResult.Data.class, ReadResult.Closed.class);
        }
        writes.forEach(Results::await);
        turns(manager);
        assertThat(reads)
                .as("seed " + seed)
                .allSatisfy(read -> assertThat(read.all).hasSize(1));
        assertThat(writes)
                .as("seed " + seed)
                .allSatisfy(write -> assertThat(write.all).hasSize(1));
    }

    private static boolean isTaken(Runnable call) {
        try {
            call.run();
            return true;
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    // ---- Registering ----

    @Test
    @DisplayName(
            "grpc-12, grpc-14: a socket is registered once; a descriptor knows its manager and carries an attachment")
    void aSocketIsRegisteredOnce() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        assertThat(descriptor.manager()).isSameAs(manager);
        assertThat(descriptor.isClosed()).isFalse();
        assertThat(descriptor.toString()).isNotBlank().doesNotContainPattern("@[0-9a-f]{5,}$");
        assertThat(descriptor.attachment()).isNull();
        descriptor.setAttachment("mine");
        assertThat(descriptor.attachment()).isEqualTo("mine");
        descriptor.setAttachment(null);
        assertThat(descriptor.attachment()).isNull();

        assertThatThrownBy(() -> manager.registerCompletion(pair.left())).isInstanceOf(IllegalStateException.class);
        UdpSocket socket = udp();
        register(socket);
        assertThatThrownBy(() -> manager.registerCompletion(socket)).isInstanceOf(IllegalStateException.class);
        write(descriptor, pattern(1, true)).await(WriteResult.Written.class);
    }

    @Test
    @DisplayName("grpc-12, grpc-14: delete closes what is not closed; another manager's is refused")
    void deleteCloses() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        Results<ReadResult> read = read(descriptor, CompletionEventManagerContract::kilobyte);
        manager.delete(descriptor);
        read.await(ReadResult.Closed.class);
        assertThat(descriptor.isClosed()).isTrue();
        Await.until("the socket is closed", () -> !pair.left().isConnected());

        CompletionDescriptor closed = register(pair.right());
        closed.close();
        manager.delete(closed);

        CompletionEventManager other = closing(open());
        SocketPair theirs = socketPair();
        CompletionDescriptor foreign = closing(other.registerCompletion(theirs.left()));
        assertThatThrownBy(() -> manager.delete(foreign)).isInstanceOf(IllegalArgumentException.class);
        assertThat(foreign.isClosed()).isFalse();
    }

    @Test
    @DisplayName("grpc-12: descriptors start no thread")
    void noThreadIsStarted() {
        exchange();
        Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
        List<Results<ReadResult>> pending = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            SocketPair pair = socketPair();
            pending.add(read(register(pair.left()), CompletionEventManagerContract::kilobyte));
        }
        exchange();
        Set<Thread> after = new HashSet<>(Thread.getAllStackTraces().keySet());
        after.removeAll(before);
        assertThat(after)
                .filteredOn(thread -> thread.getThreadGroup() != null
                        && !thread.getThreadGroup().getName().equals("system"))
                .isEmpty();
        assertThat(pending).allSatisfy(read -> assertThat(read.all).isEmpty());
    }

    /** One byte there and back. */
    private void exchange() {
        SocketPair pair = socketPair();
        CompletionDescriptor left = register(pair.left());
        CompletionDescriptor right = register(pair.right());
        Results<ReadResult> read = read(right, CompletionEventManagerContract::kilobyte);
        write(left, pattern(1, true)).await(WriteResult.Written.class);
        read.await(ReadResult.Data.class);
    }

    @Test
    @DisplayName("end-2, grpc-12: a write with a buffer that is null is refused before anything is pending")
    void aNullBufferIsRefused() {
        CompletionDescriptor descriptor = register(socketPair().left());
        Results<WriteResult> never = new Results<>();
        assertThatThrownBy(() -> descriptor.write(Arrays.asList(pattern(1, true), null), never))
                .isInstanceOf(NullPointerException.class);
        write(descriptor, pattern(1, true)).await(WriteResult.Written.class);
        assertThat(never.all).isEmpty();
    }

    @Test
    @DisplayName("end-2, grpc-12: a datagram for nobody is refused or fails, and the next one may be written")
    void aDatagramForNobodyFails() throws IOException {
        UdpSocket receiver = udp();
        CompletionDescriptor descriptor = register(udp());
        Results<WriteResult> failed = new Results<>();
        if (isTaken(() -> descriptor.write(List.of(pattern(1, true)), null, failed))) {
            failed.await(WriteResult.Failed.class);
        }
        Results<WriteResult> sent = new Results<>();
        handOver(() -> descriptor.write(List.of(pattern(1, true)), receiver.localAddress(), sent));
        sent.await(WriteResult.Written.class);
    }

    // ---- No interference ----

    @Test
    @DisplayName("grpc-12: a callback that throws harms nobody, an allocator that throws its own read alone")
    void throwingHarmsNobody() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        descriptor.write(List.of(pattern(1, true)), result -> {
            throw new IllegalStateException("thrown by a write's callback of the test");
        });
        descriptor.read(CompletionEventManagerContract::kilobyte, result -> {
            throw new IllegalStateException("thrown by a read's callback of the test");
        });
        Bytes.write(pair.right(), 1);
        Results<ReadResult> read = new Results<>();
        Await.until(
                "it may be read again",
                () -> isTaken(() -> descriptor.read(CompletionEventManagerContract::kilobyte, read)));
        Bytes.write(pair.right(), 1);
        read.await(ReadResult.Data.class);
        Results<WriteResult> write = new Results<>();
        Await.until("it may be written again", () -> isTaken(() -> descriptor.write(List.of(pattern(1, true)), write)));
        write.await(WriteResult.Written.class);

        SocketPair other = socketPair();
        CompletionDescriptor unlucky = register(other.left());
        Results<ReadResult> failed = read(unlucky, () -> {
            throw new IllegalStateException("thrown by an allocator of the test");
        });
        Bytes.write(other.right(), 1);
        failed.await(ReadResult.Failed.class);
        read(unlucky, CompletionEventManagerContract::kilobyte).await(ReadResult.Data.class);
        exchange();
    }

    @Test
    @DisplayName(
            "grpc-7, grpc-12: every method can be called from a callback, and on other threads while one stands still")
    void nothingIsLocked() {
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = register(pair.left());
        AtomicInteger survived = new AtomicInteger();
        descriptor.write(List.of(pattern(1, true)), result -> {
            callEverything(descriptor);
            survived.incrementAndGet();
        });
        descriptor.read(
                () -> {
                    callEverything(descriptor);
                    survived.incrementAndGet();
                    return ByteBuffer.allocate(8);
                },
                result -> {
                    callEverything(descriptor);
                    survived.incrementAndGet();
                });
        Bytes.write(pair.right(), 1);
        Await.until("from both callbacks and the allocator", () -> survived.get() == 3);

        Gate gate = new Gate();
        descriptor.read(CompletionEventManagerContract::kilobyte, result -> gate.run());
        Bytes.write(pair.right(), 1);
        gate.awaitEntered();
        SocketPair other = socketPair();
        Results<ReadResult> next = new Results<>();
        Background.run(() -> {
                    callEverything(descriptor);
                    descriptor.read(CompletionEventManagerContract::kilobyte, next);
                    descriptor.write(List.of(pattern(1, true)), result -> {});
                    CompletionDescriptor brief = manager.registerCompletion(other.left());
                    brief.read(CompletionEventManagerContract::kilobyte, result -> {});
                    brief.close();
                    manager.delete(brief);
                })
                .result();
        gate.open();
        Bytes.write(pair.right(), 1);
        next.await(ReadResult.Data.class);
        descriptor.read(CompletionEventManagerContract::kilobyte, result -> callEverything(manager));
        descriptor.close();
    }

    private void callEverything(CompletionDescriptor descriptor) {
        callEverything(manager);
        descriptor.manager();
        descriptor.fd();
        assertThat(descriptor.isClosed()).isFalse();
        assertThat(descriptor.toString()).isNotBlank();
    }

    private static void callEverything(CompletionEventManager manager) {
        EventManagerContract.callEverything(manager);
    }

    @Test
    @DisplayName("grpc-8, grpc-12: a manager that ends closes its descriptors, and a pending read gets CLOSED")
    void aManagerThatEndsCloses() {
        CompletionEventManager ending = closing(open());
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = ending.registerCompletion(pair.left());
        Results<ReadResult> read = new Results<>();
        descriptor.read(CompletionEventManagerContract::kilobyte, read);
        Background.run(ending::close).result();

        assertThat(read.all).containsExactly(new ReadResult.Closed());
        assertThat(descriptor.isClosed()).isTrue();
        assertThat(pair.left().isConnected()).isFalse();
        Background.run(descriptor::close).result();
        assertThatThrownBy(() -> descriptor.read(CompletionEventManagerContract::kilobyte, read))
                .isInstanceOf(IllegalStateException.class);
        SocketPair late = socketPair();
        assertThatThrownBy(() -> ending.registerCompletion(late.left())).isInstanceOf(RejectedExecutionException.class);
        assertThat(late.left().isConnected()).isTrue();
    }
}
