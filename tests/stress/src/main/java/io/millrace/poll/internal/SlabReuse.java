package io.millrace.poll.internal;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-10, mio-11: a slot changes its owner while others look up the former owner's key and the new one's. */
@JCStressTest
@State
@Outcome(
        id = {"0, 0", "1, 0", "0, 2", "1, 2"},
        expect = Expect.ACCEPTABLE,
        desc = "Each key finds its own owner or nobody.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A key found a stranger, or a published key found nobody.")
public class SlabReuse {
    private static final class Owner extends Slab.Entry {}

    private final Slab<Owner> slab = new Slab<>();
    private final Owner former = new Owner();
    private final Owner next = new Owner();
    private final long formerKey = slab.insert(former);
    private volatile long nextKey = -1;

    @Actor
    public void mutator() {
        slab.remove(former);
        nextKey = slab.insert(next);
    }

    @Actor
    public void reader(II_Result result) {
        result.r1 = who(slab.get(formerKey));
        long published = nextKey;
        // 2: found; 0: not published yet; anything else is wrong.
        result.r2 = published == -1 ? 0 : who(slab.get(published)) == 2 ? 2 : 9;
    }

    private int who(Owner found) {
        return found == null ? 0 : found == former ? 1 : 2;
    }
}
