package io.millrace.engine.vthread;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Creates virtual threads with a scheduler of our choice, if this JVM lets us.
 *
 * <p>There is no public API for that. The builder of virtual threads has a private field {@code scheduler}, and the
 * continuations of the thread arrive at the executor that is stored there. Nothing of this is assumed: the fields are
 * looked for, and a thread is run by hand, before it is used. If anything is different, {@link #probe} says what, and
 * virtual threads run on the JDK's scheduler.
 */
public final class LoopThreads {
    /** The property that switches it off. */
    public static final String PROPERTY = "millrace.loopThreads";

    private static final String REMEDY = "start Java with --add-opens java.base/java.lang=" + module();

    /** Where the JDK keeps what is needed; tests simulate a JDK that has something else. */
    record Internals(String builderClass, String schedulerField, String threadClass, String defaultField) {
        static final Internals OF_JDK_25 = new Internals(
                "java.lang.ThreadBuilders$VirtualThreadBuilder",
                "scheduler",
                "java.lang.VirtualThread",
                "DEFAULT_SCHEDULER");
    }

    /**
     * What was found.
     *
     * @param isAvailable whether virtual threads can run on loops
     * @param reason why, or why not and what to do
     */
    public record Probe(boolean isAvailable, String reason) {}

    /** Everything that a successful probe has found. */
    private record Access(VarHandle field, Executor jdk) implements SchedulerTrial.Factory {
        @Override
        public Thread unstarted(Executor scheduler, String name, Runnable task) {
            Thread.Builder.OfVirtual builder = Thread.ofVirtual().name(name);
            field.set(builder, scheduler);
            return builder.unstarted(task);
        }
    }

    private record Outcome(Probe probe, @Nullable Access access) {}

    private static final Outcome OUTCOME = Boolean.parseBoolean(System.getProperty(PROPERTY, "true"))
            ? find(Internals.OF_JDK_25)
            : new Outcome(new Probe(false, PROPERTY + " is false"), null);

    /** The loop that a thread belongs to: it carries the thread, or would if the JVM allowed it. */
    private static final ScopedValue<ThreadCarrier> HOME = ScopedValue.newInstance();

    private LoopThreads() {}

    /**
     * Returns the loop that the calling thread belongs to.
     *
     * @return null if it belongs to none
     */
    public static @Nullable ThreadCarrier home() {
        return HOME.isBound() ? HOME.get() : null;
    }

    /**
     * Makes the thread that runs a task belong to a loop meanwhile.
     *
     * @param home null if it belongs to none
     * @param task the task
     * @return runs it
     */
    public static Runnable at(@Nullable ThreadCarrier home, Runnable task) {
        return home == null ? task : () -> ScopedValue.where(HOME, home).run(task);
    }

    /**
     * Returns what was found when this class was loaded.
     *
     * @return always the same
     */
    public static Probe probe() {
        return OUTCOME.probe;
    }

    /**
     * Returns whether virtual threads can run on loops.
     *
     * @return always the same
     */
    public static boolean isAvailable() {
        return OUTCOME.access != null;
    }

    /** Looks for the internals, and tries them. */
    static Probe probe(Internals internals) {
        return find(internals).probe;
    }

    private static Outcome find(Internals internals) {
        String version = "Java " + Runtime.version().feature();
        try {
            Class<?> builder = Class.forName(internals.builderClass);
            Field scheduler = builder.getDeclaredField(internals.schedulerField);
            if (!Executor.class.equals(scheduler.getType())) {
                return refused(version + " has a scheduler of another type, " + scheduler.getType());
            }
            VarHandle handle = MethodHandles.privateLookupIn(builder, MethodHandles.lookup())
                    .unreflectVarHandle(scheduler);
            Field standard = Class.forName(internals.threadClass).getDeclaredField(internals.defaultField);
            standard.setAccessible(true);
            if (!(standard.get(null) instanceof Executor jdk)) {
                return refused(version + " has a default scheduler of another type, " + standard.getType());
            }
            Access access = new Access(handle, jdk);
            String wrong = SchedulerTrial.tryOut(access);
            return wrong == null
                    ? new Outcome(new Probe(true, version + " lets a program choose their scheduler"), access)
                    : refused(version + " " + wrong);
        } catch (ClassNotFoundException | NoSuchFieldException e) {
            return refused(version + " has no " + e.getMessage()
                    + ", so it is not known how to choose their scheduler; use Java 25, or a newer Millrace");
        } catch (IllegalAccessException | RuntimeException e) {
            return refused("java.lang is not open to " + module() + "; " + REMEDY);
        } catch (LinkageError e) {
            return refused(version + " failed: " + e);
        }
    }

    private static Outcome refused(String why) {
        return new Outcome(new Probe(false, why), null);
    }

    /**
     * Creates a virtual thread with a scheduler.
     *
     * @param scheduler gets its continuations
     * @param name its name
     * @param task what it runs
     * @return not started
     */
    static Thread unstarted(Executor scheduler, String name, Runnable task) {
        return access().unstarted(scheduler, name, task);
    }

    /**
     * Creates a virtual thread on the JDK's scheduler, also if the caller is a virtual thread on a loop, whose threads
     * would otherwise inherit that.
     *
     * @param name its name
     * @param task what it runs
     * @return not started
     */
    public static Thread elsewhere(String name, Runnable task) {
        Access access = OUTCOME.access;
        return access == null
                ? Thread.ofVirtual().name(name).unstarted(task)
                : access.unstarted(access.jdk, name, task);
    }

    /** Returns the JDK's scheduler. Only if it is available. */
    static Executor jdkScheduler() {
        return access().jdk;
    }

    private static Access access() {
        Access access = OUTCOME.access;
        if (access == null) {
            throw new IllegalStateException("virtual threads cannot run on loops: " + OUTCOME.probe.reason);
        }
        return access;
    }

    private static String module() {
        Module module = LoopThreads.class.getModule();
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }
}
