package io.millrace.bench.peers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The load generator for machines without a C compiler: the flags, the checks and the JSON of {@code bench/native/load.c}, which is to be preferred and which says what they mean.
 *
 * <p>Plain java.nio on one thread, level-triggered. Slower than the one in C, so that with a fast server it measures itself; and it knows the server's CPU only in clock ticks.
 */
public final class Load {
    private static final int PIECE = 1 << 20;
    private static final int BUFFER = 256 * 1024;
    private static final int PENDING = 256;
    private static final int REQUEST = 8;
    private static final long SECOND = 1_000_000_000L;
    private static final long PATIENCE = 10 * SECOND;

    private final int port;
    private final int connections;
    private final int idle;
    private final int depth;
    private final long seconds;
    private final long warmup;
    private final long pid;
    private final long rate;
    private final long spinNanos;
    private final long connectRate;
    private final String mode;
    private final long question;
    private final long answer;
    private final ByteBuffer file;

    private final Content content = new Content();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    private final Histogram latencies = new Histogram(3);
    private final Selector selector = Selector.open();
    private final Set<SelectionKey> ready = selector.selectedKeys();
    private final Connection[] all;
    private long messages;
    private long receivedBytes;
    private long checkedBytes;
    private boolean running;
    private long rateBegin;
    private long nextDue;

    private Load(Options options) throws IOException {
        port = (int) options.number("--port", 0, 1, 65_535);
        connections = (int) options.number("--connections", 1, 1, 1_000_000);
        idle = (int) options.number("--idle", 0, 0, 1_000_000);
        depth = (int) options.number("--depth", 1, 1, 1_000_000);
        seconds = options.number("--seconds", 2, 1, 86_400);
        warmup = options.number("--warmup", 1, 0, 86_400);
        pid = options.number("--pid", 0, 0, Integer.MAX_VALUE);
        rate = options.number("--rate", 0, 0, 1_000_000_000);
        spinNanos = options.number("--spin", 0, 0, 1_000_000_000) * 1_000;
        connectRate = options.number("--connect-rate", Long.MAX_VALUE, 1, Long.MAX_VALUE);
        mode = options.text("--mode", "echo");
        long bytes = options.number("--bytes", 64, 1, PIECE);
        switch (mode) {
            case "echo", "stream" -> {
                file = null;
                question = bytes;
                answer = bytes;
            }
            case "file" -> {
                file = map(options.text("--file", ""));
                question = REQUEST;
                answer = file.capacity();
                long announced = options.number("--file-bytes", answer, 1, Integer.MAX_VALUE);
                if (announced != answer) {
                    throw options.refuse("the file has " + answer + " bytes, not " + announced);
                }
            }
            default -> throw options.refuse("--mode is echo, stream or file, not " + mode);
        }
        if (port == 0 || (rate > 0 && mode.equals("stream"))) {
            throw options.refuse("--port is needed, and --rate does not go with --mode stream");
        }
        all = new Connection[connections + idle];
    }

    public static void main(String[] arguments) {
        Options options = new Options(
                arguments,
                "Load --port P [--connections N] [--bytes B] ...: see the top of bench/native/load.c",
                "--port",
                "--connections",
                "--bytes",
                "--depth",
                "--seconds",
                "--warmup",
                "--pid",
                "--mode",
                "--rate",
                "--file",
                "--file-bytes",
                "--spin",
                "--connect-rate",
                "--idle");
        try {
            System.out.println(new Load(options).measure());
            System.exit(0);
        } catch (WrongAnswer e) {
            System.err.println(e.getMessage());
            System.exit(1);
        } catch (IOException e) {
            System.err.println("cannot go on: " + e);
            System.exit(2);
        }
    }

    private static ByteBuffer map(String path) throws IOException {
        try (FileChannel channel = FileChannel.open(Path.of(path), StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
    }

    private String measure() throws IOException {
        openAll();
        running = true;
        rateBegin = System.nanoTime();
        for (int i = 0; i < connections; i++) {
            all[i].allowMore();
            all[i].sendAllowed();
        }
        runUntil(rateBegin + warmup * SECOND);

        ServerCpu server = ServerCpu.of(pid);
        ServerCpu own = ServerCpu.of(ProcessHandle.current().pid());
        messages = 0;
        receivedBytes = 0;
        latencies.reset();
        long begin = System.nanoTime();
        runUntil(begin + seconds * SECOND);
        double elapsed = (System.nanoTime() - begin) / 1e9;
        server = ServerCpu.of(pid).minus(server);
        own = ServerCpu.of(ProcessHandle.current().pid()).minus(own);
        Histogram measured = latencies.copy();
        long counted = messages;
        long back = receivedBytes;
        drain();
        if (counted == 0) {
            throw new WrongAnswer("no message came back within the " + seconds + " s that were measured");
        }
        return new Json()
                .add("mode", mode)
                .add("messages", counted)
                .add("seconds", elapsed)
                .add("messagesPerSecond", counted / elapsed)
                .add("bytesPerSecond", back / elapsed)
                .add("p50us", measured.getValueAtPercentile(50) / 1e3)
                .add("p99us", measured.getValueAtPercentile(99) / 1e3)
                .add("p999us", measured.getValueAtPercentile(99.9) / 1e3)
                .add("maxus", measured.getMaxValue() / 1e3)
                .add("serverUserSeconds", server.user())
                .add("serverSystemSeconds", server.system())
                .add("serverCpuSeconds", server.total())
                .add("clientUserSeconds", own.user())
                .add("clientSystemSeconds", own.system())
                .add("checkedBytes", checkedBytes)
                .add("connections", connections)
                .add("bytes", answer)
                .add("depth", depth)
                .add("rate", rate)
                .add("idle", idle)
                .add(
                        "coordinatedOmission",
                        rate > 0
                                ? "open loop: counted from the time each message was due"
                                : "closed loop: a stalled server slows its own load")
                .toString();
    }

    /** A connection is open when its first message is back: the kernel says "connected" long before it is accepted. */
    private void openAll() throws IOException {
        long begin = System.nanoTime();
        long progress = begin;
        long before = 0;
        for (int opened = 0; messages < all.length; ) {
            long now = System.nanoTime();
            double permitted = connectRate == Long.MAX_VALUE ? all.length : (now - begin) / 1e9 * connectRate + 1;
            while (opened < all.length && opened - messages < PENDING && opened < permitted) {
                all[opened] = new Connection(opened);
                opened++;
            }
            pass(now + 1_000_000);
            if (messages != before) {
                before = messages;
                progress = now;
            } else if (now - progress > PATIENCE && opened > messages) {
                throw new WrongAnswer(
                        (opened - messages) + " of " + all.length + " connections have no answer after 10 s");
            }
        }
    }

    private void runUntil(long end) throws IOException {
        for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
            while (rate > 0 && rateBegin + (long) (nextDue * 1e9 / rate) - now <= 0) {
                Connection c = all[(int) (nextDue++ % connections)];
                c.allowed += question;
                c.sendAllowed();
            }
            pass(end);
        }
    }

    /** Nothing new is begun; everything that is in flight must come back. */
    private void drain() throws IOException {
        running = false;
        long end = System.nanoTime() + PATIENCE;
        for (int i = 0; i < connections; i++) {
            Connection c = all[i];
            long begun = (c.sent + question - 1) / question;
            c.allowed = begun * question;
            c.sendAllowed();
            while (c.done < begun) {
                pass(end);
                if (c.done < begun && System.nanoTime() - end >= 0) {
                    throw c.wrong(c.received, "of " + begun * answer + " bytes no more came back within 10 s");
                }
            }
        }
    }

    private void pass(long until) throws IOException {
        boolean openLoop = rate > 0 && running;
        long begin = System.nanoTime();
        long now = begin;
        int n = 0;
        if (openLoop) {
            n = selector.selectNow();
        } else {
            while (n == 0 && now - begin < spinNanos && now - until < 0) {
                n = selector.selectNow();
                now = System.nanoTime();
            }
            if (n == 0) {
                selector.select(Math.clamp(TimeUnit.NANOSECONDS.toMillis(until - now) + 1, 1, 1_000));
            }
        }
        for (SelectionKey key : ready) {
            Connection c = (Connection) key.attachment();
            if (key.isConnectable()) {
                c.connected();
            }
            if (key.isWritable()) {
                c.sendAllowed();
            }
            if (key.isReadable()) {
                c.receive();
            }
        }
        ready.clear();
    }

    /** Both directions of one connection, and what is expected to come back. */
    private final class Connection {
        final int number;
        final SocketChannel channel = SocketChannel.open();
        final SelectionKey key;
        final long[] times = new long[depth + 2];
        long allowed = question;
        long sent;
        long begun;
        long received;
        long done;

        Connection(int number) throws IOException {
            this.number = number;
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = channel.register(selector, SelectionKey.OP_CONNECT, this);
            if (channel.connect(new InetSocketAddress("127.0.0.1", port))) {
                connected();
            }
        }

        void connected() throws IOException {
            try {
                channel.finishConnect();
            } catch (IOException e) {
                throw wrong(0, "cannot connect to 127.0.0.1:" + port + ": " + e.getMessage());
            }
            key.interestOps(SelectionKey.OP_READ);
            sendAllowed();
        }

        void allowMore() {
            if (!running || rate > 0 || number >= connections) {
                return;
            }
            if (!mode.equals("stream")) {
                allowed = (done + depth) * question;
            } else if (received + depth * question - allowed >= Math.min(question, 65_536)) {
                allowed = received + depth * question;
            }
        }

        void sendAllowed() throws IOException {
            boolean full = false;
            while (sent < allowed && !full) {
                ByteBuffer piece = content.at(number, sent, (int) Math.min(allowed - sent, PIECE));
                long now = System.nanoTime();
                try {
                    sent += channel.write(piece);
                } catch (IOException e) {
                    throw wrong(sent, "send: " + e.getMessage());
                }
                for (; begun * question < sent; begun++) {
                    times[(int) (begun % times.length)] = now;
                }
                full = piece.hasRemaining();
            }
            int wanted = full ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
            if (key.interestOps() != wanted) {
                key.interestOps(wanted);
            }
        }

        void receive() throws IOException {
            buffer.clear();
            int n;
            try {
                n = channel.read(buffer);
            } catch (IOException e) {
                throw wrong(received, e.getMessage());
            }
            if (n < 0) {
                throw wrong(received, "the server has closed it");
            }
            long now = System.nanoTime();
            check(buffer.flip());
            receivedBytes += n;
            checkedBytes += n;
            for (; (done + 1) * answer <= received; done++, messages++) {
                if (done >= begun) {
                    throw wrong(received, "an answer without a question");
                }
                latencies.recordValue(Math.max(0, now - began(done)));
            }
            allowMore();
            if (sent < allowed) {
                sendAllowed();
            }
        }

        /** When the message was sent, or, in the open loop, when it was due. The first one only opened the connection. */
        private long began(long message) {
            return rate > 0 && message > 0
                    ? rateBegin + (long) (((message - 1) * connections + number) * 1e9 / rate)
                    : times[(int) (message % times.length)];
        }

        private void check(ByteBuffer got) {
            while (got.hasRemaining()) {
                ByteBuffer expected = expected(got.remaining());
                ByteBuffer part = got.slice(got.position(), expected.remaining());
                int wrong = part.mismatch(expected);
                if (wrong >= 0) {
                    throw wrong(
                            received + wrong,
                            "got %02x instead of %02x"
                                    .formatted(part.get(wrong), expected.get(expected.position() + wrong)));
                }
                received += expected.remaining();
                got.position(got.position() + part.remaining());
            }
            if (file == null && received > sent) {
                throw wrong(sent, "more came back than was sent");
            }
        }

        private ByteBuffer expected(int most) {
            if (file == null) {
                return content.at(number, received, most);
            }
            int from = (int) (received % answer);
            return file.slice(from, (int) Math.min(most, answer - from));
        }

        WrongAnswer wrong(long offset, String what) {
            return new WrongAnswer("connection " + number + ", byte " + offset + ": " + what);
        }
    }

    /** Random bytes that repeat after a prime number of them; each connection begins elsewhere. As in load.c. */
    private static final class Content {
        private static final int PERIOD = 1_048_573;
        private static final int APART = 7_919;

        private final ByteBuffer table = ByteBuffer.allocateDirect(PERIOD + PIECE);

        Content() {
            SplittableRandom random = new SplittableRandom(42);
            for (int i = 0; i < PERIOD; i++) {
                table.put(i, (byte) random.nextInt());
            }
            for (int i = PERIOD; i < table.capacity(); i++) {
                table.put(i, table.get(i - PERIOD));
            }
        }

        /** Always the same buffer, with other bounds: no allocation per message. */
        ByteBuffer at(int connection, long offset, int length) {
            int from = (int) ((offset + (long) connection * APART) % PERIOD);
            return table.limit(from + length).position(from);
        }
    }

    /** The server is at fault: exit status 1. */
    private static final class WrongAnswer extends RuntimeException {
        private static final long serialVersionUID = 1;

        WrongAnswer(String what) {
            super(what);
        }
    }
}
