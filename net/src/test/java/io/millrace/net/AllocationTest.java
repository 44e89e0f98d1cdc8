package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads and writes allocate nothing once they are compiled, with heap and direct buffers mixed. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
@Tag("compiled")
class AllocationTest {
    private static final int CALLS = 2_000;

    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void theSteadyStateOfAStreamAllocatesNothing() throws Throwable {
        Rig.Ends ends = rig.connection();
        ByteBuffer[] sent = {ByteBuffer.allocateDirect(64), ByteBuffer.allocate(64)};
        ByteBuffer[] read = {ByteBuffer.allocate(64), ByteBuffer.allocateDirect(64)};
        assertSomeRoundAllocatesNothing(() -> {
            for (int i = 0; i < CALLS; i++) {
                ends.client().tryWrite(sent[i & 1].clear());
                while (ends.server().tryRead(read[i & 1].clear()) == TcpStream.WOULD_BLOCK) {
                    Thread.onSpinWait();
                }
                ends.server().tryRead(read[i >> 1 & 1].clear());
            }
        });
    }

    @Test
    void theSteadyStateOfAPipeAllocatesNothing() throws Throwable {
        Pipe pipe = rig.pipe();
        ByteBuffer from = ByteBuffer.allocate(64);
        ByteBuffer into = ByteBuffer.allocateDirect(64);
        assertSomeRoundAllocatesNothing(() -> {
            for (int i = 0; i < CALLS; i++) {
                pipe.sink().tryWrite(from.clear());
                pipe.source().tryRead(into.clear());
            }
        });
    }

    @Test
    void vectoredCallsAllocateNothingEither() throws Throwable {
        Rig.Ends ends = rig.connection();
        ByteBuffer[] sent = {ByteBuffer.allocateDirect(8), ByteBuffer.allocate(24), ByteBuffer.allocateDirect(32)};
        ByteBuffer[] read = {ByteBuffer.allocate(8), ByteBuffer.allocateDirect(24), ByteBuffer.allocateDirect(32)};
        assertSomeRoundAllocatesNothing(() -> {
            for (int i = 0; i < CALLS; i++) {
                for (ByteBuffer each : sent) {
                    each.clear();
                }
                // As a queue does that moves on by a buffer.
                int from = i % 3;
                ends.client().tryWrite(sent, from, 3 - from);
                for (ByteBuffer each : read) {
                    each.clear();
                }
                while (ends.server().tryRead(read, 0, 3) == TcpStream.WOULD_BLOCK) {
                    Thread.onSpinWait();
                }
            }
        });
    }

    @Test
    void segmentsAllocateNothingOnDescriptors() throws Throwable {
        assumeTrue(backend != Rig.Backend.NIO, "NIO wants a buffer of each segment");
        Rig.Ends ends = rig.connection();
        try (Arena shared = Arena.ofShared()) {
            MemorySegment sent = shared.allocate(64);
            MemorySegment[] read = {Arena.ofAuto().allocate(64), MemorySegment.ofArray(new byte[64])};
            assertSomeRoundAllocatesNothing(() -> {
                for (int i = 0; i < CALLS; i++) {
                    ends.client().tryWrite(sent);
                    while (ends.server().tryRead(read[i & 1]) == TcpStream.WOULD_BLOCK) {
                        Thread.onSpinWait();
                    }
                }
            });
        }
    }

    @Test
    void datagramsToAndFromTheSamePeerAllocateNothing() throws Throwable {
        UdpSocket one = rig.keep(rig.net.udp(Rig.ANY_PORT));
        UdpSocket other = rig.keep(rig.net.udp(Rig.ANY_PORT));
        ByteBuffer[] buffers = {ByteBuffer.allocateDirect(64), ByteBuffer.allocate(64)};
        assertSomeRoundAllocatesNothing(() -> {
            for (int i = 0; i < CALLS; i++) {
                one.trySendTo(buffers[0].clear(), other.localAddress());
                while (other.tryReceive(buffers[1].clear()) == UdpSocket.WOULD_BLOCK) {
                    Thread.onSpinWait();
                }
                other.trySendTo(buffers[i & 1].clear(), other.lastSender());
                while (one.tryReceive(buffers[0].clear()) == UdpSocket.WOULD_BLOCK) {
                    Thread.onSpinWait();
                }
            }
        });
    }

    private interface Round {
        void run() throws Exception;
    }

    /**
     * Rounds before the compiler is done allocate, and on a busy machine it takes its time; one that allocates nothing shows that the
     * code does not need to.
     */
    private static void assertSomeRoundAllocatesNothing(Round round) throws Throwable {
        AllocationMeter meter = new AllocationMeter();
        long least = Long.MAX_VALUE;
        long deadline = System.nanoTime() + Rig.DEADLINE.toNanos();
        while (least > 0 && System.nanoTime() - deadline < 0) {
            long before = meter.bytes();
            round.run();
            least = Math.min(least, meter.bytes() - before);
        }
        assertThat(least)
                .as("bytes allocated by the best round of %d calls", CALLS)
                .isZero();
    }

    /** {@code com.sun.management.ThreadMXBean}, which this module does not read, so by method handle. */
    private static final class AllocationMeter {
        private static final MethodHandle ALLOCATED = handle();

        private static MethodHandle handle() {
            try {
                MethodHandles.Lookup lookup = MethodHandles.publicLookup();
                Object bean = Class.forName("java.lang.management.ManagementFactory")
                        .getMethod("getThreadMXBean")
                        .invoke(null);
                return lookup.findVirtual(
                                Class.forName("com.sun.management.ThreadMXBean"),
                                "getCurrentThreadAllocatedBytes",
                                MethodType.methodType(long.class))
                        .bindTo(bean);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        long bytes() throws Throwable {
            return (long) ALLOCATED.invokeExact();
        }
    }
}
