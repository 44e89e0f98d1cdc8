package io.millrace.poll.internal;

import io.millrace.lincheck.Effort;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Three owners come and go under a lock, while others look them up without it by the last key that was handed out for each: a key
 * finds its owner or nothing, never a stranger that was given the slot since.
 */
@Param(name = "owner", gen = IntGen.class, conf = "0:2")
public class SlabLincheckTest {
    /** One less than the slab's first array holds, so that the second insert makes it grow. */
    private static final int FILLED = 15;

    private static final class Owner extends Slab.Entry {}

    private final Slab<Owner> slab = new Slab<>();
    private final Owner[] owners = {new Owner(), new Owner(), new Owner()};
    private final AtomicLongArray handedOut = new AtomicLongArray(new long[] {-1, -1, -1});

    public SlabLincheckTest() {
        for (int i = 0; i < FILLED; i++) {
            slab.insert(new Owner());
        }
    }

    @Operation
    public synchronized boolean insert(@Param(name = "owner") int owner) {
        if (owners[owner].key() != -1) {
            return false;
        }
        handedOut.set(owner, slab.insert(owners[owner]));
        return true;
    }

    @Operation
    public synchronized boolean remove(@Param(name = "owner") int owner) {
        if (owners[owner].key() == -1) {
            return false;
        }
        slab.remove(owners[owner]);
        return true;
    }

    @Operation
    public String find(@Param(name = "owner") int owner) {
        Owner found = slab.get(handedOut.get(owner));
        return found == null ? "nobody" : found == owners[owner] ? "the owner" : "a stranger";
    }

    @Test
    void aKeyFindsItsOwnerOrNobody_mio10_mio11() {
        new ModelCheckingOptions()
                .sequentialSpecification(Presence.class)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(2)
                .actorsAfter(1)
                .iterations(18)
                .invocationsPerIteration(Effort.times(100))
                .check(SlabLincheckTest.class);
    }

    /** Who is in, and nothing else. */
    public static class Presence {
        private final boolean[] in = new boolean[3];

        public boolean insert(int owner) {
            boolean was = in[owner];
            in[owner] = true;
            return !was;
        }

        public boolean remove(int owner) {
            boolean was = in[owner];
            in[owner] = false;
            return was;
        }

        public String find(int owner) {
            return in[owner] ? "the owner" : "nobody";
        }
    }
}
