package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.net.ChildProcess.Exit;
import io.millrace.net.ChildProcess.Stdio;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
@EnabledOnOs(OS.LINUX)
class ChildProcessTest {
    @Parameter
    Rig.Backend backend;

    @TempDir
    Path directory;

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
    @DisplayName("mr-6: what goes into a child comes out of it, and its end is an event")
    void anEchoThroughCat() throws Exception {
        assumeDescriptors();
        ChildProcess cat = rig.keep(rig.net.process("cat").start());
        assertThat(cat.stdout().tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);
        assertThat(cat.stdin().tryWrite(TcpStreamTest.ascii("water"))).isEqualTo(5);
        rig.await(cat.stdout(), Interest.READABLE);
        ByteBuffer into = ByteBuffer.allocate(16);
        assertThat(cat.stdout().tryRead(into)).isEqualTo(5);
        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("water"));
        assertThat(cat.poll()).isNull();

        cat.stdin().close();

        assertThat(ended(cat)).isEqualTo(new Exit(0, 0));
        assertThat(output(cat.stdout())).isEmpty();
        assertThat(output(cat.stderr())).isEmpty();
    }

    @Test
    @DisplayName("mr-6: a mebibyte through a child, in and out in one loop")
    void muchGoesThroughAChild() throws Exception {
        assumeDescriptors();
        ChildProcess cat = rig.keep(rig.net.process("cat").start());
        rig.poll.register(cat.stdin(), 1, Interest.WRITABLE, Trigger.EDGE);
        rig.poll.register(cat.stdout(), 2, Interest.READABLE, Trigger.EDGE);
        Events events = Events.withCapacity(4);
        ByteBuffer from = ByteBuffer.allocateDirect(1 << 20);
        while (from.hasRemaining()) {
            from.put((byte) (from.position() % 251));
        }
        from.flip();
        ByteBuffer into = ByteBuffer.allocateDirect((1 << 20) + 1);
        boolean open = true;
        while (open) {
            assertThat(rig.poll.poll(events, Rig.DEADLINE)).isPositive();
            for (Event event : events) {
                if (event.token() == 1) {
                    while (from.hasRemaining() && cat.stdin().tryWrite(from) != Io.WOULD_BLOCK) {}
                    if (!from.hasRemaining()) {
                        cat.stdin().close();
                    }
                } else {
                    int read;
                    do {
                        read = cat.stdout().tryRead(into);
                    } while (read > 0);
                    open = read != Io.EOF;
                }
            }
        }

        assertThat(into.flip()).isEqualTo(from.rewind());
        assertThat(ended(cat).isSuccess()).isTrue();
    }

    @Test
    void itsCodeIsTheOneThatItReturned() throws Exception {
        for (int code : new int[] {0, 1, 3, 255}) {
            ChildProcess child = rig.keep(quiet("sh", "-c", "exit " + code).start());
            assertThat(ended(child)).isEqualTo(new Exit(code, 0)).hasToString("exit code " + code);
            assertThat(child.poll()).as("and stays so").isEqualTo(new Exit(code, 0));
            assertThat(child.kill("TERM")).as("nobody is left").isFalse();
        }
    }

    @Test
    void aSignalThatEndsItIsTold() throws Exception {
        for (String signal : List.of("TERM", "SIGKILL")) {
            ChildProcess child = rig.keep(quiet("sleep", "1000").start());
            assertThat(child.poll()).isNull();
            assertThat(child.kill(signal)).isTrue();
            int number = signal.equals("TERM") ? 15 : 9;
            if (backend == Rig.Backend.NIO) {
                assertThat(ended(child)).isEqualTo(new Exit(128 + number, 0));
            } else {
                assertThat(ended(child))
                        .isEqualTo(new Exit(-1, number))
                        .hasToString("ended by SIG" + signal.replace("SIG", ""));
            }
        }
    }

    @Test
    void otherSignalsCanBeSentToo() throws Exception {
        ChildProcess child = rig.keep(quiet("sleep", "1000").start());
        if (backend == Rig.Backend.NIO) {
            assertThatThrownBy(() -> child.kill("USR1"))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("nio")
                    .hasMessageContaining("Net.natively()");
            child.kill("KILL");
            ended(child);
            return;
        }
        assertThatThrownBy(() -> child.kill("NONSENSE")).isInstanceOf(IllegalArgumentException.class);
        child.kill("USR1");
        assertThat(ended(child)).hasToString("ended by SIGUSR1");
    }

    @Test
    void aProgramThatIsNotThereIsRefusedWithTheReason() throws Exception {
        Map<Integer, String> before = ProcFs.open();

        assertThatThrownBy(() -> rig.net.process("no-such-program", "x").start())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot start [no-such-program, x]")
                .hasMessageContaining("PATH");
        Path file = Files.writeString(directory.resolve("not-executable"), "x");
        assertThatThrownBy(() -> rig.net.process(file.toString()).start())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("may be executed");
        assertThatThrownBy(() -> rig.net
                        .process("true")
                        .directory(directory.resolve("nowhere"))
                        .start())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("there is no such directory");
        assertThatThrownBy(() -> rig.net.process()).isInstanceOf(IllegalArgumentException.class);

        assertThatThrownBy(() -> rig.net.process("true", "a\0b").start()).isInstanceOf(IllegalArgumentException.class);
        if (backend != Rig.Backend.NIO) {
            assertThat(ofOurs(ProcFs.open())).isEqualTo(ofOurs(before));
            assertThat(ProcFs.children()).isEmpty();
        }
    }

    @Test
    void itGetsItsVariablesAndItsDirectory() throws Exception {
        assumeDescriptors();
        String say = "echo \"$MILLRACE:$PATH:$HOME:$(pwd)\"";
        String path = System.getenv("PATH");
        String real = directory.toRealPath().toString();
        ChildProcess changed = rig.keep(rig.net
                .process("sh", "-c", say)
                .environment("MILLRACE", "greetings")
                .environment("HOME", null)
                .directory(directory)
                .start());
        assertThat(output(changed.stdout())).isEqualTo("greetings:" + path + "::" + real + "\n");
        ended(changed);

        ChildProcess alone = rig.keep(rig.net
                .process("/usr/bin/env")
                .environment("ONLY", "this=that")
                .emptyEnvironment()
                .start());
        assertThat(output(alone.stdout())).isEqualTo("ONLY=this=that\n");
        ended(alone);
        assertThatThrownBy(() -> rig.net.process("true").environment("A=B", "x"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("a child has three descriptors, no blocked or ignored signal, and nothing else of ours")
    void nothingLeaksIntoTheChild() throws Exception {
        assumeDescriptors();
        // A socket of the JDK is not close-on-exec.
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(Rig.ANY_PORT)) {
            assertThat(server.isOpen()).isTrue();
            ChildProcess ls = rig.keep(rig.net.process("ls", "/proc/self/fd").start());
            assertThat(output(ls.stdout()))
                    .as("the three, and the directory that it lists")
                    .isEqualTo("0\n1\n2\n3\n");
            ended(ls);
            ChildProcess child = rig.keep(rig.net
                    .process("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
                    .start());
            assertThat(output(child.stdout()))
                    .as("glibc itself ignores 32 and 33, which are its own")
                    .matches("SigBlk:\t0{16}\nSigIgn:\t0{7}[01][08]0{7}\n");
            ended(child);
        }
    }

    @Test
    void aStreamMayBeInheritedOrDiscarded() throws Exception {
        ChildProcess child = rig.keep(quiet("cat").start());

        assertThat(ended(child)).as("its input was at the end at once").isEqualTo(new Exit(0, 0));
        assertThatThrownBy(child::stdin)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is no pipe");
        assertThatThrownBy(child::stdout).isInstanceOf(IllegalStateException.class);
        ChildProcess inherited = rig.keep(
                quiet("true").stdout(Stdio.INHERIT).stderr(Stdio.INHERIT).start());
        assertThat(ended(inherited).isSuccess()).isTrue();
    }

    @Test
    @DisplayName("mr-6: a hundred children at once, each reaped once, and no descriptor, zombie or thread stays")
    void aHundredChildrenAtOnce() throws Exception {
        rig.keep(quiet("true").start()); // what is made once is made before the count
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        Map<String, Integer> before = ofOurs(ProcFs.open());
        List<ChildProcess> children = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ChildProcess child = rig.net
                    .process("sh", "-c", "read line; exit " + i)
                    .stdout(Stdio.DISCARD)
                    .stderr(Stdio.DISCARD)
                    .start();
            children.add(child);
            rig.poll.register(child, i, Interest.READABLE, Trigger.ONESHOT);
        }
        assertThat(rig.reports(Duration.ZERO)).isFalse();
        for (ChildProcess child : children) {
            child.stdin().close();
        }

        Set<Long> seen = new HashSet<>();
        Events events = Events.withCapacity(16);
        while (seen.size() < 100) {
            assertThat(rig.poll.poll(events, Rig.DEADLINE)).isPositive();
            for (Event event : events) {
                assertThat(seen.add(event.token())).isTrue();
                assertThat(children.get((int) event.token()).poll()).isEqualTo(new Exit((int) event.token(), 0));
            }
        }

        if (backend != Rig.Backend.NIO) {
            assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !threads.contains(thread))
                            .map(thread -> thread.getName().toLowerCase(Locale.ROOT))
                            .filter(name -> name.contains("reaper") || name.contains("millrace")))
                    .isEmpty();
        }
        children.forEach(ChildProcess::close);
        assertThat(ofOurs(ProcFs.open())).isEqualTo(before);
        Map<Long, Character> left = ProcFs.children();
        children.forEach(child -> assertThat(left).doesNotContainKey(child.pid()));
    }

    @Test
    void theStatusIsTakenOnceByWhoeverAsks() throws Exception {
        assumeDescriptors();
        int askers = 8;
        try (ExecutorService threads = Executors.newFixedThreadPool(askers)) {
            for (int round = 0; round < 20; round++) {
                ChildProcess child = rig.keep(quiet("sh", "-c", "exit 7").start());
                rig.await(child, Interest.READABLE);
                CyclicBarrier barrier = new CyclicBarrier(askers);
                Callable<Exit> ask = () -> {
                    barrier.await();
                    return child.poll();
                };
                for (Future<Exit> answer : threads.invokeAll(List.of(ask, ask, ask, ask, ask, ask, ask, ask))) {
                    assertThat(answer.get()).isEqualTo(new Exit(7, 0));
                }
            }
        }
    }

    @Test
    void closeDoesNotKillAndTheNextChildSeesToTheZombie() throws Exception {
        assumeDescriptors();
        ChildProcess cat = rig.net.process("cat").stdout(Stdio.DISCARD).start();
        // It must have its pipe to lose it.
        cat.stdin().tryWrite(TcpStreamTest.ascii("x"));
        cat.close();
        cat.close();
        assertThatThrownBy(cat::poll).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> cat.kill("TERM")).isInstanceOf(ClosedChannelException.class);

        // Its input has ended, so it ends; by itself, and nobody waits for it.
        long deadline = System.nanoTime() + Rig.DEADLINE.toNanos();
        while (ProcFs.children().getOrDefault(cat.pid(), 'Z') != 'Z') {
            assertThat(System.nanoTime() - deadline).as("cat does not end").isNegative();
            Thread.onSpinWait();
        }
        ended(rig.keep(quiet("true").start()));

        assertThat(ProcFs.children()).doesNotContainKey(cat.pid());
    }

    @Test
    @DisplayName("mr-6: on NIO a child's end is an event, and its streams are refused with the remedy")
    void nioRefusesTheStreams() throws Exception {
        assumeTrue(backend == Rig.Backend.NIO, "descriptors take them");
        ChildProcess cat = rig.keep(rig.net.process("cat").start());
        assertThatThrownBy(() -> rig.poll.register(cat.stdout(), 1, Interest.READABLE, Trigger.LEVEL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot register the standard output of child " + cat.pid())
                .hasMessageContaining("the backend nio")
                .hasMessageContaining("Net.of(poll)");
        assertThatThrownBy(() -> cat.stdout().tryRead(ByteBuffer.allocate(1)))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> cat.stdin().tryWrite(ByteBuffer.allocate(1)))
                .isInstanceOf(UnsupportedOperationException.class);

        cat.stdin().close();

        assertThat(ended(cat).isSuccess()).isTrue();
    }

    private ChildProcess.Builder quiet(String... command) {
        return rig.net
                .process(command)
                .stdin(Stdio.DISCARD)
                .stdout(Stdio.DISCARD)
                .stderr(Stdio.DISCARD);
    }

    private Exit ended(ChildProcess child) throws IOException {
        for (; ; ) {
            Exit exit = child.poll();
            if (exit != null) {
                return exit;
            }
            rig.await(child, Interest.READABLE);
        }
    }

    private String output(Pipe.Reader reader) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(1 << 16);
        int read;
        while ((read = reader.tryRead(all)) != Io.EOF) {
            if (read == Io.WOULD_BLOCK) {
                rig.await(reader, Interest.READABLE);
            }
        }
        return StandardCharsets.UTF_8.decode(all.flip()).toString();
    }

    /** Pipes and pidfds by kind: what else is open is the JVM's. */
    private static Map<String, Integer> ofOurs(Map<Integer, String> open) {
        Map<String, Integer> counts = new java.util.TreeMap<>();
        for (String target : open.values()) {
            if (target.startsWith("pipe:") || target.contains("pidfd")) {
                counts.merge(target.substring(0, target.indexOf(':')), 1, Integer::sum);
            }
        }
        return counts;
    }

    private void assumeDescriptors() {
        assumeTrue(backend != Rig.Backend.NIO, "the JDK hides the descriptors of its children");
    }
}
