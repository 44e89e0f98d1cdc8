package io.millrace.server.group;

import io.millrace.server.support.ServerSettings;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** end-4: the last connection leaves while its server is closed. One of the two notices that all have ended. */
@JCStressTest
@State
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The end was told.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Nobody is in, and nobody is told.")
public class LastOneOut {
    private static final ServerSettings SETTINGS = new ServerSettings();
    private static final InetAddress SOMEONE = InetAddress.getLoopbackAddress();

    private final Connections connections = new Connections(SETTINGS, Integer.MAX_VALUE, Integer.MAX_VALUE);
    private CompletableFuture<Void> ended;

    public LastOneOut() {
        connections.admit(SOMEONE);
    }

    @Actor
    public void closer() {
        ended = connections.closeAdmission();
    }

    @Actor
    public void leaver() {
        connections.leave(SOMEONE);
    }

    @Arbiter
    public void afterwards(I_Result result) {
        result.r1 = ended.isDone() ? 1 : 0;
    }
}
