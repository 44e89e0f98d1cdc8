package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.SignalSource;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.net.UdpSocket;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListener;
import io.millrace.net.UnixStream;
import io.millrace.poll.Channel;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * On epoll and poll(2) a source is a descriptor that the kernel watches, or a word in memory: no thread helps it, and no channel of {@code
 * java.nio} hides behind it. Each kind is opened, registered and made ready; then this process is looked at from outside, through {@code
 * /proc}, and from inside, field by field.
 */
@DisplayName("mr-6: sources are descriptors, without threads and channels")
@EnabledOnOs(OS.LINUX)
class DescriptorsOnlyTest {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Pattern WATCHED = Pattern.compile("tfd:\\s*(\\d+).*");

    /** Each kind, and what the kernel must say that it watches for it. */
    enum Kind {
        TCP_LISTENER("socket") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                TcpListener listener = test.keep(test.net.listen(ANY));
                test.keep(test.net.connect(listener.localAddress()));
                return listener;
            }
        },
        TCP_STREAM("socket") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                TcpListener listener = test.keep(test.net.listen(ANY));
                TcpStream stream = test.keep(test.net.connect(listener.localAddress()));
                AtomicReference<TcpStream> accepted = new AtomicReference<>();
                Await.until("it is accepted", () -> {
                    try {
                        accepted.set(listener.accept());
                        return accepted.get() != null && stream.finishConnect();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
                test.keep(accepted.get()).tryWrite(ByteBuffer.allocate(1));
                return stream;
            }
        },
        UDP_SOCKET("socket") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                UdpSocket socket = test.keep(test.net.udp(ANY));
                socket.trySendTo(ByteBuffer.allocate(1), socket.localAddress());
                return socket;
            }
        },
        UNIX_LISTENER("socket") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                UnixListener listener = test.keep(test.net.listen(UnixAddress.of(test.directory.resolve("socket"))));
                test.keep(test.net.connect(listener.address()));
                return listener;
            }
        },
        UNIX_STREAM("socket") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                UnixListener listener = test.keep(test.net.listen(UnixAddress.of(test.directory.resolve("socket"))));
                UnixStream stream = test.keep(test.net.connect(listener.address()));
                test.keep(listener.accept()).tryWrite(ByteBuffer.allocate(1));
                return stream;
            }
        },
        PIPE("pipe") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                Pipe pipe = test.keep(test.net.pipe());
                pipe.sink().tryWrite(ByteBuffer.allocate(1));
                return pipe.source();
            }
        },
        FD_SOURCE("fifo") {
            @Override
            Source open(DescriptorsOnlyTest test) throws Exception {
                // A fifo that a shell makes, opens and writes to.
                Path fifo = test.directory.resolve("fifo");
                assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                        .isZero();
                int number = test.opened(
                        () -> test.keep(new java.io.RandomAccessFile(fifo.toFile(), "rw")), fifo.toString());
                FdSource source = test.keep(FdSource.adopt(number));
                assertThat(new ProcessBuilder("sh", "-c", "echo x > " + fifo)
                                .start()
                                .waitFor())
                        .isZero();
                return source;
            }
        },
        FILE_SOURCE("") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                return test.keep(test.net.file(
                        test.directory.resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE));
            }
        },
        FILE_WATCH(
                "[eventpoll]") { // its own, which holds inotify: readable while the watch holds changes that nobody has
            // taken
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                var watch = test.keep(test.net.fileWatch());
                watch.watch(test.directory);
                Files.createFile(test.directory.resolve("made"));
                return watch;
            }
        },
        SIGNAL_SOURCE("") {
            @Override
            Source open(DescriptorsOnlyTest test) throws Exception {
                SignalSource source = test.keep(SignalSource.of("USR2"));
                long self = ProcessHandle.current().pid();
                assertThat(new ProcessBuilder("sh", "-c", "kill -USR2 " + self)
                                .start()
                                .waitFor())
                        .isZero();
                return source;
            }
        },
        CHILD_PROCESS("[pidfd]") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                return test.keep(test.net.process("true").start());
            }
        },
        CHILD_OUTPUT("pipe") {
            @Override
            Source open(DescriptorsOnlyTest test) throws IOException {
                ChildProcess child = test.keep(test.net.process("echo", "x").start());
                return child.stdout();
            }
        },
        TIMER("") {
            @Override
            Source open(DescriptorsOnlyTest test) {
                Timer<String> timer = test.keep(Timer.withTick(Duration.ofMillis(1)));
                timer.set(Duration.ZERO, "due");
                return timer;
            }
        },
        CHANNEL("") {
            @Override
            Source open(DescriptorsOnlyTest test) {
                Channel<String> channel = test.keep(Channel.unbounded());
                channel.send("x");
                return channel;
            }
        };

        /** Empty if nothing, because it is a source in software. */
        final String watched;

        Kind(String watched) {
            this.watched = watched;
        }

        /** Opens one that is ready, or will be soon. What is opened besides is kept too. */
        abstract Source open(DescriptorsOnlyTest test) throws Exception;

        /** A file is writable, which is enough to be reported. */
        Interest interest() {
            return this == FILE_SOURCE ? Interest.WRITABLE : Interest.READABLE;
        }
    }

    @TempDir
    Path directory;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private Poll poll;
    private Net net;

    private <T extends AutoCloseable> T keep(T resource) {
        open.push(resource);
        return resource;
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    static List<Arguments> everyKind() {
        List<Arguments> all = new ArrayList<>();
        for (String backend : List.of("epoll", "poll")) {
            for (Kind kind : Kind.values()) {
                all.add(Arguments.of(backend, kind));
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("everyKind")
    void aSourceIsWatchedByTheKernelItself(String backend, Kind kind) throws Exception {
        warmUp();
        Set<Thread> threads = liveThreads();
        long epollsBefore = epolls();
        int epoll = openPoll(backend);
        Source source = kind.open(this);
        poll.register(source, 7, kind.interest(), Trigger.LEVEL);
        awaitEvent();

        Await.until("no thread is left but those of before: " + threads, () -> threads.containsAll(liveThreads()));
        if (epoll >= 0) {
            Set<String> expected = new TreeSet<>(Set.of("[eventfd]")); // by which another thread wakes it
            if (!kind.watched.isEmpty()) {
                expected.add(kind.watched);
            }
            assertThat(watchedBy(epoll)).isEqualTo(expected);
        } else {
            assertThat(epolls()).as("poll(2) needs none").isEqualTo(epollsBefore + (kind == Kind.FILE_WATCH ? 1 : 0));
        }
        assertThat(channelsBehind(source, poll)).isEmpty();
        poll.deregister(source);
    }

    /** The search must find what it looks for where it is. */
    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {
                "TCP_LISTENER",
                "TCP_STREAM",
                "UDP_SOCKET",
                "UNIX_LISTENER",
                "UNIX_STREAM",
                "PIPE",
                "FILE_SOURCE",
                "FILE_WATCH",
                "CHILD_PROCESS"
            })
    void onNioTheChannelBehindASourceIsFound(Kind kind) throws Exception {
        openPoll("nio");
        Source source = kind.open(this);

        assertThat(channelsBehind(source)).isNotEmpty();
    }

    /** What the JDK makes once: the thread that reaps the shells of these tests, and the like. */
    private void warmUp() throws Exception {
        assertThat(new ProcessBuilder("true").start().waitFor()).isZero();
        try (SignalSource signals = SignalSource.of("USR2")) {
            assertThat(signals.poll()).isNull();
        }
    }

    /** The number of the epoll instance, or −1 if none was opened. */
    private int openPoll(String backend) throws Exception {
        Map<Integer, String> before = descriptors();
        poll = keep(Poll.builder().backend(backend).open());
        net = Net.of(poll);
        if (!backend.equals("epoll")) {
            return -1;
        }
        return descriptors().entrySet().stream()
                .filter(entry -> !entry.getValue().equals(before.get(entry.getKey())))
                .filter(entry -> entry.getValue().equals("[eventpoll]"))
                .findFirst()
                .orElseThrow()
                .getKey();
    }

    /** Other tests in this JVM may have left some, e.g. of the global manager. */
    private static long epolls() throws Exception {
        return descriptors().values().stream().filter("[eventpoll]"::equals).count();
    }

    private interface Opener {
        void run() throws Exception;
    }

    private int opened(Opener opener, String target) throws Exception {
        opener.run();
        return descriptors().entrySet().stream()
                .filter(entry -> entry.getValue().equals(target))
                .findFirst()
                .orElseThrow()
                .getKey();
    }

    private void awaitEvent() {
        Events events = Events.withCapacity(4);
        Await.until("the event", () -> {
            poll.poll(events, Duration.ofSeconds(1));
            for (Event event : events) {
                assertThat(event.token()).isEqualTo(7);
                return true;
            }
            return false;
        });
    }

    private static Set<Thread> liveThreads() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        // Started by JUnit and by the JDK for this test's own shells, and kept for a minute.
        threads.removeIf(thread -> thread.getName().equals("process reaper"));
        return threads;
    }

    /** What the kernel says that an epoll instance watches. */
    private static Set<String> watchedBy(int epoll) throws IOException {
        Map<Integer, String> kinds = descriptors();
        Set<String> watched = new TreeSet<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + epoll))) {
            Matcher target = WATCHED.matcher(line);
            if (target.matches()) {
                // A named pipe has a path: its name will do.
                watched.add(kinds.get(Integer.parseInt(target.group(1))).replaceAll(".*/", ""));
            }
        }
        return watched;
    }

    /** The open descriptors and of what kind they are; of files their path. */
    private static Map<Integer, String> descriptors() throws IOException {
        Map<Integer, String> kinds = new HashMap<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                try {
                    String target = Files.readSymbolicLink(link).toString();
                    String kind = target.startsWith("anon_inode:")
                            ? target.substring("anon_inode:".length())
                            : target.startsWith("/") ? target : target.replaceAll(":.*", "");
                    kinds.put(Integer.parseInt(link.getFileName().toString()), kind);
                } catch (java.nio.file.NoSuchFileException closedSince) {
                    // the directory's own
                }
            }
        }
        return kinds;
    }

    /** Everything of NIO's, and every process of the JDK's, that can be reached through fields of ours. */
    private static List<Object> channelsBehind(Object... roots) throws IllegalAccessException {
        List<Object> found = new ArrayList<>();
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> todo = new ArrayDeque<>(List.of(roots));
        while (!todo.isEmpty()) {
            Object object = todo.pop();
            if (!seen.add(object)) {
                continue;
            }
            if (object instanceof java.nio.channels.Channel
                    || object instanceof Selector
                    || object instanceof WatchService
                    || object instanceof Process) {
                found.add(object);
            } else if (object instanceof Collection<?> elements) {
                elements.forEach(element -> push(todo, element));
            } else if (object instanceof Map<?, ?> map) {
                map.keySet().forEach(element -> push(todo, element));
                map.values().forEach(element -> push(todo, element));
            } else if (object instanceof AtomicReference<?> reference) {
                push(todo, reference.get());
            } else if (object instanceof Object[] elements) {
                for (int i = 0; i < elements.length; i++) {
                    push(todo, Array.get(elements, i));
                }
            } else if (object.getClass().getName().startsWith("io.millrace.")) {
                for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
                    pushFields(todo, object, type);
                }
            }
        }
        return found;
    }

    private static void pushFields(Deque<Object> todo, Object object, Class<?> type) throws IllegalAccessException {
        if (!type.getName().startsWith("io.millrace.")) {
            return; // the JDK's own, e.g. a weak reference
        }
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                field.setAccessible(true);
                push(todo, field.get(object));
            }
        }
    }

    private static void push(Deque<Object> todo, Object object) {
        if (object != null) {
            todo.push(object);
        }
    }
}
