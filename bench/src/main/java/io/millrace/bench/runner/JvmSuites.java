package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What happens inside one JVM: timers, channels, tasks, wake-ups. JMH measures, in a JVM for each candidate and round. */
final class JvmSuites {
    private static final String OURS = "Millrace";

    private JvmSuites() {}

    /** Names in the tables by JMH's parameter. */
    private static Map<String, String> names(String... pairs) {
        Map<String, String> names = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            names.put(pairs[i], pairs[i + 1]);
        }
        return names;
    }

    private static final Map<String, String> LOOPS = names(
            "millrace",
            OURS,
            "nettyEpoll",
            "Netty epoll",
            "nettyNio",
            "Netty nio",
            "stpe",
            "ScheduledThreadPoolExecutor");
    private static final Map<String, String> ALARMS = names(
            "millrace",
            OURS,
            "nettyEpoll",
            "Netty epoll",
            "nettyWheel",
            "Netty wheel",
            "stpe",
            "ScheduledThreadPoolExecutor",
            "agrona",
            "Agrona wheel");
    private static final Map<String, String> WHEELS = names(
            "millrace",
            OURS,
            "nettyWheel",
            "Netty wheel",
            "stpe",
            "ScheduledThreadPoolExecutor",
            "agrona",
            "Agrona wheel",
            "bare",
            "bare arrays");
    private static final Map<String, String> QUEUES = names(
            "channelBounded",
            "Millrace Channel.bounded",
            "channelUnbounded",
            "Millrace Channel.unbounded",
            "millraceExecute",
            "Millrace execute",
            "nettyExecute",
            "Netty execute",
            "mpscArray",
            "JCTools MpscArrayQueue",
            "mpscUnbounded",
            "JCTools MpscUnboundedArrayQueue",
            "concurrentLinkedQueue",
            "ConcurrentLinkedQueue",
            "linkedTransferQueue",
            "LinkedTransferQueue");
    private static final Map<String, String> SETS = names(
            "SET_OF_POLLABLES",
            OURS + ", pollables",
            "SET_OF_FUTURES",
            OURS + ", futures",
            "COMPLETION_SERVICE",
            "ExecutorCompletionService",
            "FUTURES_INTO_TRANSFER_QUEUE",
            "futures into LinkedTransferQueue",
            "BARE_TRANSFER_QUEUE",
            "LinkedTransferQueue alone");

    static void timers(Session session) throws IOException, InterruptedException {
        int rounds = session.settings().rounds(2, 10);
        String wheel = "Netty wheel";
        session.compare(
                new Comparison(
                        "wheel",
                        "deadlines alone, a million live: CPU ns of an operation",
                        OURS,
                        List.of(
                                Column.compared("insert.cpuNanos", "insert", 0),
                                Column.compared("moveLater.cpuNanos", "move later", 0),
                                Column.compared("insertAndExpire.cpuNanos", "insert + expire", 0)),
                        jmh(session, "WheelBench", "peer", WHEELS, shots(session, 6, 5)),
                        List.of(
                                Target.atMost(80, "insert.cpuNanos", OURS),
                                Target.atMost(40, "moveLater.cpuNanos", OURS),
                                Target.atMost(100, "insertAndExpire.cpuNanos", OURS),
                                Target.atMost(0.25, "insertAndExpire.cpuNanos", OURS, wheel))),
                rounds);
        session.compare(
                new Comparison(
                        "set-and-cancel",
                        "timers of the engine, a million live: ns to set and cancel one",
                        OURS,
                        List.of(Column.compared("setAndCancel", "set + cancel", 0)),
                        jmh(session, "EngineAlarmBench.setAndCancel", "peer", ALARMS, shots(session, 4, 4)),
                        List.of()),
                rounds);
        session.compare(
                new Comparison(
                        "set-and-fire",
                        "timers of the engine, a million that fire: CPU ns of the process for one",
                        OURS,
                        List.of(Column.compared("setAndFire.cpuNanos", "set + fire", 0)),
                        jmh(session, "EngineAlarmBench.setAndFire", "peer", ALARMS, shots(session, 4, 3)),
                        List.of()),
                rounds);
    }

    static void channels(Session session) throws IOException, InterruptedException {
        int rounds = session.settings().rounds(2, 10);
        String jctools = "JCTools MpscUnboundedArrayQueue";
        session.compare(
                new Comparison(
                        "channels",
                        "messages to another thread: ns for each",
                        jctools,
                        List.of(
                                Column.compared("oneProducer", "1 producer", 1),
                                Column.compared("twoProducers", "2 producers", 1)),
                        jmh(session, "ChannelBench", "peer", QUEUES, shots(session, 4, 4)),
                        List.of()),
                rounds);
        session.compare(
                new Comparison(
                        "hand-over",
                        "tasks to a loop: ns for each",
                        OURS,
                        List.of(
                                Column.compared("executeOneProducer", "execute", 1),
                                Column.compared("executeTwoProducers", "2 producers", 1),
                                Column.compared("runCancellable", "cancellable", 1),
                                Column.shown("runCancellable.gc.alloc.rate.norm", "its B/op", 0)),
                        jmh(session, "EngineHandOverBench", "peer", LOOPS, shots(session, 4, 4, "-prof", "gc")),
                        List.of(
                                Target.atMost(10, "executeOneProducer", OURS),
                                Target.atMost(1, "executeTwoProducers", OURS, "Netty epoll"),
                                Target.atMost(25, "runCancellable", OURS),
                                Target.atMost(1, "runCancellable", OURS, "Netty epoll"))),
                rounds);
        session.compare(
                new Comparison(
                        "hand-over-cpu",
                        "tasks to a loop, one producer: CPU ns of both threads for each",
                        OURS,
                        List.of(
                                Column.compared("execute", "execute", 1),
                                Column.compared("run", "cancellable", 1),
                                Column.shown("execute.producer", "execute, producer's", 1),
                                Column.shown("run.producer", "cancellable, producer's", 1)),
                        HandOver.candidates(session, LOOPS),
                        List.of(
                                Target.atMost(1, "execute", OURS, "Netty epoll"),
                                Target.atMost(1, "run", OURS, "Netty epoll"))),
                rounds);
    }

    static void tasks(Session session) throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        String ours = OURS + ", pollables";
        int children = quick ? 100_000 : 1_000_000;
        for (String order : quick ? List.of("ONE_BY_ONE") : List.of("ONE_BY_ONE", "SCATTERED", "SCATTERED_BURSTS")) {
            String words = order.toLowerCase(Locale.ROOT).replace('_', ' ');
            List<String> more = shots(session, 3, 3, "-w", "1", "-r", "1", "-p", "order=" + order);
            more.addAll(List.of("-p", "children=" + children));
            List<Candidate> candidates = new ArrayList<>();
            for (JmhCandidate each : jmh(session, "UnorderedBench", "by", SETS, more)) {
                // JMH tells microseconds for all of them.
                candidates.add(each.each(children / 1_000.0));
            }
            session.compare(
                    new Comparison(
                            "completions-" + words.replace(' ', '-'),
                            String.format(Locale.ROOT, "%,d children complete %s: ns for each", children, words),
                            ours,
                            List.of(Column.compared("complete", "completion", 1)),
                            candidates,
                            List.of(Target.atMost(100, "complete", ours))),
                    session.settings().rounds(2, 10));
        }
    }

    static void wakeUp(Session session) throws IOException, InterruptedException {
        session.compare(
                new Comparison(
                        "wake-up",
                        "a task for a loop that sleeps in the kernel: µs until it has run",
                        OURS,
                        List.of(Column.compared("wakeUp.p50", "p50", 1), Column.shown("wakeUp.p99", "p99", 1)),
                        // A loop turns 2,000 times in an iteration, and its compilation takes 20,000.
                        jmh(session, "EngineWakeUpBench", "peer", LOOPS, shots(session, 20, 4)),
                        List.of()),
                session.settings().rounds(2, 10));
    }

    /** JMH's arguments for so many iterations. */
    private static List<String> shots(Session session, int warmUps, int measured, String... more) {
        boolean quick = session.settings().quick();
        List<String> arguments = new ArrayList<>(List.of(
                "-f",
                "1",
                "-wi",
                Integer.toString(quick ? Math.max(2, warmUps / 2) : warmUps),
                "-i",
                Integer.toString(quick ? 2 : measured)));
        arguments.addAll(List.of(more));
        return arguments;
    }

    private static List<JmhCandidate> jmh(
            Session session, String benchmark, String parameter, Map<String, String> names, List<String> more) {
        List<JmhCandidate> candidates = new ArrayList<>();
        names.forEach((value, name) -> {
            List<String> arguments = new ArrayList<>(List.of("bench." + benchmark, "-p", parameter + "=" + value));
            arguments.addAll(more);
            candidates.add(new JmhCandidate(name, arguments, 1, session));
        });
        return candidates;
    }
}
