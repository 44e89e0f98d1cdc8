package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.TestPipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whole polls on real kernels, opened and closed by the thousand while others poll, register, send and wake: nobody hangs, nobody
 * sees anything but a closed poll, and no descriptor is left (mio-17, mio-26, tip-14).
 */
class PollLifecycleSoakTest {
    private static final int ROUNDS = Boolean.getBoolean("millrace.soak") ? 100_000 : 3_000;
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int THREADS = 4;

    private final CyclicBarrier start = new CyclicBarrier(THREADS);

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    void aPollCanBeClosedAtAnyMoment_mio17_mio26_tip14(String backend) throws Exception {
        System.out.println(backend + ": -Dmillrace.seed=" + SEED);
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            round(threads, backend, random, 0); // opens what the JVM opens once
            long before = openFiles();

            for (int round = 1; round < ROUNDS; round++) {
                round(threads, backend, random, round);
            }

            assertThat(openFiles()).as("open files, seed %d", SEED).isEqualTo(before);
        }
    }

    private void round(ExecutorService threads, String backend, RandomGenerator random, int round) throws Exception {
        Poll poll = Poll.builder().backend(backend).open();
        boolean descriptors = !backend.equals("nio");
        int pause = random.nextInt(4_000);
        List<Future<?>> running = new ArrayList<>();
        running.add(threads.submit(started(() -> poller(poll))));
        running.add(threads.submit(started(() -> registrar(poll, descriptors))));
        running.add(threads.submit(started(() -> waker(poll))));
        running.add(threads.submit(started(() -> closer(poll, pause))));
        for (Future<?> one : running) {
            try {
                one.get(60, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError(backend + ", round " + round + ", seed " + SEED + ", " + poll, e);
            }
        }
        assertThat(poll.size()).isZero();
    }

    private Callable<Void> started(Runnable body) {
        return () -> {
            start.await();
            try {
                body.run();
            } catch (ClosedPollException e) {
                // What everybody may meet, and the poller must.
            }
            return null;
        };
    }

    private static void poller(Poll poll) {
        Events events = Events.withCapacity(4);
        for (; ; ) {
            poll.poll(events);
            while (events.advance()) {
                assertThat(events.token()).isBetween(1L, 3L);
            }
        }
    }

    private static void registrar(Poll poll, boolean descriptors) {
        for (int i = 0; i < 10; i++) {
            try (Registration registration = new Registration()) {
                registration.setReadiness(Readiness.READABLE);
                poll.register(registration, 1, Interest.READABLE, Trigger.LEVEL);
                registration.unsetReadiness(Readiness.READABLE);
                if (descriptors) {
                    registerPipe(poll);
                }
                poll.deregister(registration);
            }
        }
    }

    private static void registerPipe(Poll poll) {
        TestPipe pipe = TestPipe.open();
        KernelHandle reader = new KernelHandle(pipe.reader());
        try {
            pipe.writeByte();
            poll.register(() -> reader, 2, Interest.READABLE, Trigger.LEVEL);
        } finally {
            reader.close();
            pipe.writer().close();
        }
    }

    private static void waker(Poll poll) {
        Channel<Integer> channel = Channel.bounded(64);
        poll.register(channel, 3, Interest.READABLE, Trigger.EDGE);
        for (int i = 0; i < 50; i++) {
            channel.send(i);
            poll.wake();
        }
    }

    private static void closer(Poll poll, int pause) {
        for (int i = 0; i < pause; i++) {
            Thread.onSpinWait();
        }
        poll.close();
        poll.close();
    }

    private static long openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
