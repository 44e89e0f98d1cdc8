package io.millrace.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What a task costs in CPU time of the producer's thread and of the loop's, for a machine that is too busy for clocks on the wall to mean anything: the two
 * clocks stand still while others run. One peer in a JVM; the median of batches after a warm-up. Prints {@code peer work producer loop}, in nanoseconds.
 */
public final class HandOverCpu {
    private static final int BATCH = 50_000;
    private static final int WARM_UP = 200;
    private static final int MEASURED = 101;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static long ran;

    private HandOverCpu() {}

    public static void main(String[] arguments) throws InterruptedException {
        Runnable task = () -> ran++;
        try (Peer peer = Peer.of(arguments[0])) {
            AtomicLong loop = new AtomicLong();
            CountDownLatch known = new CountDownLatch(1);
            peer.execute(() -> {
                loop.set(Thread.currentThread().threadId());
                known.countDown();
            });
            known.await();
            measure(arguments[0], "execute", peer, loop.get(), each -> peer.execute(task));
            measure(arguments[0], "run", peer, loop.get(), each -> peer.submit(task));
        }
        System.exit(ran > 0 ? 0 : 1);
    }

    private static void measure(String name, String work, Peer peer, long loop, Consumer<Object> handOver)
            throws InterruptedException {
        double[] producer = new double[MEASURED];
        double[] consumer = new double[MEASURED];
        for (int i = -WARM_UP; i < MEASURED; i++) {
            CountDownLatch done = new CountDownLatch(1);
            long ours = THREADS.getCurrentThreadCpuTime();
            long theirs = THREADS.getThreadCpuTime(loop);
            for (int n = 1; n < BATCH; n++) {
                handOver.accept(null);
            }
            peer.execute(done::countDown);
            done.await();
            if (i >= 0) {
                producer[i] = (double) (THREADS.getCurrentThreadCpuTime() - ours) / BATCH;
                consumer[i] = (double) (THREADS.getThreadCpuTime(loop) - theirs) / BATCH;
            }
        }
        Arrays.sort(producer);
        Arrays.sort(consumer);
        System.out.printf("%s %s %.1f %.1f%n", name, work, producer[MEASURED / 2], consumer[MEASURED / 2]);
    }
}
