package io.millrace.engine.reactor;

import io.millrace.lincheck.Race;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** What {@link RunQueue} says about closing and waking. A chunk holds one task, so that most offers add one. */
class RunQueueLincheckTest {
    @Test
    void anOfferDuringCloseIsTakenOrRefused_grpc18() {
        Race.explore(80, () -> new CloseRace() {
            @Override
            protected void longer() {
                refused += offer();
            }

            @Override
            protected void shorter() {
                taken = queue.close();
            }

            @Override
            protected void afterwards() {
                expectEachOnce(1);
            }
        });
    }

    @Test
    void anOfferThatAddsAChunkDuringCloseIsTakenOrRefused_grpc18() {
        Race.explore(40, () -> new CloseRace() {
            {
                queue.offer(this);
            }

            @Override
            protected void longer() {
                refused += offer();
            }

            @Override
            protected void shorter() {
                taken = queue.close();
            }

            @Override
            protected void afterwards() {
                expectEachOnce(2);
            }
        });
    }

    @Test
    void twoOffersOfOneTaskDuringCloseAreCountedApart_grpc18() {
        Race.explore(60, () -> new CloseRaceOfThree() {
            @Override
            protected void longer() {
                taken = queue.close();
            }

            @Override
            protected void shorter() {
                refused += offer();
            }

            @Override
            protected void third() {
                refusedToo += offer();
            }

            @Override
            protected void afterwards() {
                int accepted = 2 - refused - refusedToo;
                expect(taken.size() == accepted, taken.size() + " taken, " + accepted + " accepted");
                expect(!queue.isPending(), "something stays in the queue for ever");
            }
        });
    }

    @Test
    void aSleeperFindsTheOfferOrIsWoken_mio15() {
        Race.explore(80, () -> new SleepRace(false));
    }

    @Test
    void aSleeperFindsTheOfferThatAddsAChunkOrIsWoken_mio15() {
        Race.explore(80, () -> new SleepRace(true));
    }

    private abstract static class CloseRace extends Race implements Runnable {
        final RunQueue queue = new RunQueue(4, 2);
        List<Runnable> taken = List.of();
        int refused;

        @Override
        public void run() {}

        int offer() {
            try {
                queue.offer(this);
                return 0;
            } catch (RejectedExecutionException e) {
                return 1;
            }
        }

        void expectEachOnce(int offered) {
            expect(
                    taken.size() + refused == offered,
                    offered + " offered, " + taken.size() + " taken, " + refused + " refused");
            expect(!queue.isPending(), "something stays in the queue for ever");
        }
    }

    private abstract static class CloseRaceOfThree extends Race.OfThree implements Runnable {
        final RunQueue queue = new RunQueue(4, 2);
        List<Runnable> taken = List.of();
        int refused;
        int refusedToo;

        @Override
        public void run() {}

        int offer() {
            try {
                queue.offer(this);
                return 0;
            } catch (RejectedExecutionException e) {
                return 1;
            }
        }
    }

    /** A reactor without a kernel: it says that it sleeps, looks once more, and waits on a monitor. A lost wake-up is a deadlock. */
    private static final class SleepRace extends Race implements Runnable, RunQueue.Runner {
        private final RunQueue queue = new RunQueue(4, 2);
        private final int expected;
        private volatile boolean asleep;
        private boolean woken;
        private int ran;

        SleepRace(boolean grows) {
            if (grows) {
                queue.offer(this);
            }
            expected = grows ? 2 : 1;
        }

        @Override
        protected void longer() {
            while (ran < expected) {
                if (!queue.isPending()) {
                    sleep();
                }
                queue.beginSnapshot();
                queue.deliver(this);
            }
        }

        private void sleep() {
            asleep = true;
            if (!queue.isPending()) {
                await();
            }
            asleep = false;
        }

        private synchronized void await() {
            while (!woken) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            woken = false;
        }

        @Override
        protected void shorter() {
            queue.offer(this);
            if (asleep) {
                synchronized (this) {
                    woken = true;
                    notifyAll();
                }
            }
        }

        @Override
        public void run() {
            ran++;
        }

        @Override
        public void run(Runnable item) {
            item.run();
        }
    }
}
