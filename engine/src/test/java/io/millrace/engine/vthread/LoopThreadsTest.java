package io.millrace.engine.vthread;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.vthread.LoopThreads.Internals;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Whether virtual threads can run on loops")
class LoopThreadsTest {
    private static final Internals HERE = Internals.OF_JDK_25;

    @Test
    @DisplayName("vt-2 on this JDK they can, also if a virtual thread is the first to ask")
    void here() throws Exception {
        assertThat(LoopThreads.probe(HERE).isAvailable())
                .as(LoopThreads.probe(HERE).reason())
                .isTrue();
        CompletableFuture<Boolean> asked = new CompletableFuture<>();
        Thread.ofVirtual()
                .start(() -> asked.complete(LoopThreads.probe(HERE).isAvailable()))
                .join();
        assertThat(asked).isCompletedWithValue(true);
    }

    @Test
    @DisplayName(
            "vt-2 on a JDK without the class, the field or the default scheduler they cannot, and the reason names it")
    void otherJdks() {
        assertRefused(new Internals("java.lang.Gone", "scheduler", HERE.threadClass(), HERE.defaultField()), "Gone");
        assertRefused(
                new Internals(HERE.builderClass(), "dispatcher", HERE.threadClass(), HERE.defaultField()),
                "dispatcher");
        assertRefused(
                new Internals(HERE.builderClass(), HERE.schedulerField(), HERE.threadClass(), "SHARED"), "SHARED");
    }

    @Test
    @DisplayName("vt-2 on a JDK where the fields have other types they cannot")
    void otherTypes() {
        assertRefused(
                new Internals("java.lang.Thread", "name", HERE.threadClass(), HERE.defaultField()), "another type");
        assertRefused(
                new Internals(HERE.builderClass(), HERE.schedulerField(), HERE.threadClass(), "VTHREAD_SCOPE"),
                "another type");
    }

    private static void assertRefused(Internals internals, String reason) {
        LoopThreads.Probe probe = LoopThreads.probe(internals);
        assertThat(probe.isAvailable()).isFalse();
        assertThat(probe.reason())
                .contains(reason)
                .contains("Java " + Runtime.version().feature());
    }

    @Test
    @DisplayName("vt-2 on a JDK that treats a scheduler in another way they cannot, and the reason says in which")
    void otherSchedulers() {
        SchedulerTrial.Factory usual = LoopThreads::unstarted;
        assertThat(SchedulerTrial.tryOut(usual)).isNull();
        assertThat(SchedulerTrial.tryOut(
                        (scheduler, name, task) -> Thread.ofVirtual().name(name).unstarted(task)))
                .contains("does not pass");
        assertThat(SchedulerTrial.tryOut((scheduler, name, task) ->
                        usual.unstarted(next -> scheduler.execute(() -> next.run()), name, task)))
                .contains("another continuation");
        assertThat(SchedulerTrial.tryOut((scheduler, name, task) -> usual.unstarted(scheduler, name, () -> {
                    task.run();
                    LockSupport.park();
                })))
                .contains("does not run");
    }

    @Test
    @DisplayName("vt-2 a thread elsewhere runs on the JDK's scheduler")
    void elsewhere() throws Exception {
        CompletableFuture<String> carrier = new CompletableFuture<>();
        Thread thread = LoopThreads.elsewhere(
                "test", () -> carrier.complete(Thread.currentThread().toString()));
        thread.start();
        thread.join();
        assertThat(carrier.join()).contains("test", "ForkJoinPool");
    }
}
