package io.millrace.server.secure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What TLS costs beyond the engine of the JDK")
class TlsAllocationTest {
    private static final int RECORDS = 2_000;
    /** Found by name, because the module that is tested here does not read the modules that have it. */
    private static final MethodHandle ALLOCATED = handle();

    private final ByteBuffer plain = ByteBuffer.allocate(40_000);
    private final ByteBuffer packet = ByteBuffer.allocate(40_000);

    /** Takes what it is told without keeping it. */
    private static final class Silent extends RecordingSink {
        long bytes;

        @Override
        public void onReceived(ByteBuffer data) {
            bytes += data.remaining();
            data.position(data.limit());
        }
    }

    private static MethodHandle handle() {
        try {
            Object bean = Class.forName("java.lang.management.ManagementFactory")
                    .getMethod("getThreadMXBean")
                    .invoke(null);
            return MethodHandles.publicLookup()
                    .findVirtual(
                            Class.forName("com.sun.management.ThreadMXBean"),
                            "getCurrentThreadAllocatedBytes",
                            MethodType.methodType(long.class))
                    .bindTo(bean);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static long allocated() {
        try {
            return (long) ALLOCATED.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Records of the peer, one after the other. */
    private static List<byte[]> records(EnginePeer peer, int size) throws IOException {
        List<byte[]> all = new ArrayList<>();
        byte[] data = new byte[size];
        for (int i = 0; i < RECORDS; i++) {
            all.add(peer.encrypt(data));
        }
        return all;
    }

    /** What the engine allocates by itself: one record in, one out. */
    private double bare(TlsEnds ends, SSLEngine engine, int size) throws IOException {
        List<byte[]> in = records(ends.peer, size);
        ByteBuffer out = ByteBuffer.allocate(size);
        ByteBuffer[] from = {out};
        ByteBuffer record = ByteBuffer.allocate(64 * 1024);
        long before = allocated();
        for (byte[] each : in) {
            record.clear().put(each).flip();
            while (record.hasRemaining()) {
                engine.unwrap(record, plain.clear()); // with TLS 1.3, 16 KiB are a record and a little one
            }
            out.clear();
            while (out.hasRemaining()) {
                engine.wrap(from, 0, 1, packet.clear());
            }
        }
        return (double) (allocated() - before) / RECORDS;
    }

    private double ours(TlsEnds ends, int size) throws IOException {
        List<byte[]> in = records(ends.peer, size);
        ByteBuffer out = ByteBuffer.allocate(size);
        ByteBuffer input = ByteBuffer.allocateDirect(64 * 1024); // as loops have it
        long before = allocated();
        for (byte[] each : in) {
            ends.tls.onReceived(input.clear().put(each).flip());
            ends.tls.send(out.clear());
        }
        long bytes = allocated() - before;
        ends.raw.sent.reset();
        return (double) bytes / RECORDS;
    }

    @ParameterizedTest
    @CsvSource({"64, TLSv1.3", "16384, TLSv1.3", "64, TLSv1.2", "16384, TLSv1.2"})
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    @DisplayName("tls-7: a record there and back allocates what the bare engine allocates, and nothing more")
    void nothingMore(int size, String version) throws Exception {
        TlsEnds ends = TlsEnds.of(true, version, new Silent()).shakeHands();
        ends.raw.discards = true;
        // The same code of the JDK, warm in the same way: another engine, in the same role.
        TlsEnds other = TlsEnds.of(true, version, new Silent()).shakeHands();
        SSLEngine engine = other.tls.engine();
        double bare = 0;
        double more = Double.MAX_VALUE;
        // Until it is compiled, if that is what it takes: the timeout is the limit.
        while (more >= 1) {
            bare = bare(other, engine, size);
            more = ours(ends, size) - bare;
        }
        System.out.printf(
                "TLS records of %d bytes with %s: the engine allocates %.0f bytes there and back, we %.1f more%n",
                size, version, bare, more);
        assertThat(more).isLessThan(1);
    }

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    @DisplayName("tls-7: an idle connection holds no buffer, and at most 1 KiB beyond its engine")
    void idle() throws Exception {
        int count = 1_000;
        List<Object> engines = new ArrayList<>();
        List<TlsEnds> all = new ArrayList<>();
        OneThreadLoop loop = new OneThreadLoop();
        TlsSettings settings = TestKeys.SHARED.server("TLSv1.3");
        List<TlsTransport> transports = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TlsEnds ends = new TlsEnds(loop, true, "TLSv1.3", settings, new RecordingSink()).shakeHands();
            ends.receive(new byte[10_000]);
            ends.send(new byte[10_000]);
            assertThat(ends.tls.ownBytes()).isZero();
            engines.add(ends.tls.engine());
            transports.add(ends.tls);
            ends.sink.received.reset();
            all.add(ends);
        }
        // Its sink and its transport are what a plain connection has, too, so they stay while ours go.
        List<Object> others = new ArrayList<>();
        for (TlsEnds each : all) {
            others.add(each.sink);
            others.add(each.raw);
            each.raw.above = null;
            each.raw.arriving.clear();
        }
        all.clear();
        long with = heap();
        transports.clear();
        long without = heap();
        long each = (with - without) / count;
        System.out.println("an idle TLS connection holds " + each + " bytes beyond its engine");
        assertThat(engines.size() + others.size()).isEqualTo(3 * count);
        assertThat(each).isBetween(50L, 1024L);
    }

    private static long heap() {
        long smallest = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            smallest = Math.min(smallest, runtime.totalMemory() - runtime.freeMemory());
        }
        return smallest;
    }
}
