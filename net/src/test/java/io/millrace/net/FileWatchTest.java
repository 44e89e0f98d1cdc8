package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.net.FileEvent.Kind;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
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
class FileWatchTest {
    @Parameter
    Rig.Backend backend;

    @TempDir
    Path temporary;

    private Rig rig;
    private FileWatch watch;
    private Path directory;
    private Path elsewhere;

    @BeforeEach
    void open() throws IOException {
        rig = backend.rig();
        watch = rig.keep(rig.net.fileWatch());
        directory = Files.createDirectory(temporary.resolve("watched"));
        elsewhere = Files.createDirectory(temporary.resolve("elsewhere"));
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    @DisplayName("mr-6: the entries of a directory, changed by another process")
    void theEntriesOfADirectory() throws Exception {
        watch.watch(directory);
        assertThat(watch.poll()).isNull();
        Path file = directory.resolve("a");

        shell("cd " + directory + " && : > a");
        assertThat(next()).isEqualTo(event(Kind.CREATED, file));
        shell("echo x >> " + file);
        assertThat(nextOther(Kind.CREATED)).isEqualTo(event(Kind.MODIFIED, file));
        shell("rm " + file);
        assertThat(nextOther(Kind.MODIFIED)).isEqualTo(event(Kind.DELETED, file));
        assertQuiet();
    }

    @Test
    @DisplayName("mio-7, mr-6: a LEVEL watch is reported while it holds changes that were read and not taken")
    void aLevelWatchIsReportedWhileItHoldsChanges() throws Exception {
        watch.watch(directory, Kind.CREATED);
        rig.poll.register(watch, 1, Interest.READABLE, Trigger.LEVEL);
        Set<FileEvent> expected = new HashSet<>();
        for (String name : List.of("a", "b", "c", "d")) {
            expected.add(event(Kind.CREATED, Files.createFile(directory.resolve(name))));
        }

        Set<FileEvent> seen = new HashSet<>();
        while (seen.size() < expected.size()) {
            assertThat(rig.reports(Rig.DEADLINE)).as("after " + seen).isTrue();
            FileEvent event = watch.poll();
            if (event != null) {
                seen.add(event);
            }
        }
        assertThat(seen).isEqualTo(expected);
        assertThat(watch.poll()).isNull();
        assertThat(rig.reports(Duration.ZERO)).as("nothing is left").isFalse();
        rig.poll.deregister(watch);
    }

    @Test
    @DisplayName("mio-8: a watch that holds changes is reported at once when it is registered, by every trigger")
    void aWatchThatHoldsChangesIsReportedWhenRegistered() throws Exception {
        watch.watch(directory, Kind.CREATED);
        for (Trigger trigger : Trigger.values()) {
            Files.createFile(directory.resolve(trigger + "1"));
            Files.createFile(directory.resolve(trigger + "2"));
            assertThat(next()).isNotNull();

            rig.poll.register(watch, 1, Interest.READABLE, trigger);
            assertThat(rig.reports(Rig.DEADLINE)).as(trigger.name()).isTrue();
            rig.poll.reregister(watch, 1, Interest.READABLE, trigger);
            assertThat(rig.reports(Rig.DEADLINE)).as(trigger.name()).isTrue();
            assertThat(next()).isNotNull();
            rig.poll.deregister(watch);
        }
    }

    @Test
    @DisplayName("mr-6: a move between watched places is one event where the system tells, else two")
    void aMoveBetweenWatchedPlaces() throws Exception {
        Path other = Files.createDirectory(temporary.resolve("other"));
        Path from = Files.createFile(directory.resolve("a"));
        Path renamed = directory.resolve("b");
        Path moved = other.resolve("c");
        watch.watch(directory);
        watch.watch(other);

        shell("mv " + from + " " + renamed);
        assertMoved(from, renamed);
        shell("mv " + renamed + " " + moved);
        assertMoved(renamed, moved);
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: one that leaves and another that comes are no move, though nothing lies between them")
    void twoMovesAreNotOne() throws Exception {
        Path leaves = Files.createFile(directory.resolve("a"));
        Path comes = directory.resolve("b");
        Files.createFile(elsewhere.resolve("b"));
        watch.watch(directory);

        shell("mv " + leaves + " " + elsewhere + "/; mv " + elsewhere + "/b " + directory + "/");

        assertThat(next()).isEqualTo(event(Kind.DELETED, leaves));
        assertThat(next()).isEqualTo(event(Kind.CREATED, comes));
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: two files of a directory are watched for what each was asked for")
    void twoFilesOfADirectory() throws Exception {
        Path first = directory.resolve("a");
        Path second = Files.createFile(directory.resolve("b"));
        watch.watch(first, Kind.CREATED);
        watch.watch(second, Kind.DELETED);

        shell(": > " + first + "; rm " + second);

        assertThat(next()).isEqualTo(event(Kind.CREATED, first));
        assertThat(next()).isEqualTo(event(Kind.DELETED, second));
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: a directory that was moved away has ended, and is not watched where it is now")
    void aMovedDirectoryHasEnded() throws Exception {
        assumeTrue(backend != Rig.Backend.NIO, "NIO does not hear of it");
        watch.watch(directory);
        Path now = elsewhere.resolve("moved");
        shell("mv " + directory + " " + now);
        assertThat(next()).isEqualTo(event(Kind.DELETED, directory));
        assertThat(watch.poll()).isNull();
        rig.poll.register(watch, 1, Interest.READABLE, Trigger.LEVEL);

        shell(": > " + now + "/a");

        assertThat(rig.reports(Duration.ofMillis(50))).isFalse();
        rig.poll.deregister(watch);
    }

    private void assertMoved(Path from, Path to) throws IOException {
        if (backend == Rig.Backend.NIO) {
            // Two directories have two keys, whose order is nobody's promise.
            assertThat(List.of(next(), next()))
                    .containsExactlyInAnyOrder(event(Kind.DELETED, from), event(Kind.CREATED, to));
        } else {
            assertThat(next()).isEqualTo(moved(from, to));
        }
    }

    @Test
    void aMoveToOrFromAPlaceThatIsNotWatchedIsADeletionOrACreation() throws Exception {
        Path inside = Files.createFile(directory.resolve("a"));
        Path outside = elsewhere.resolve("b");
        watch.watch(directory);

        Files.move(inside, outside);
        assertThat(next()).isEqualTo(event(Kind.DELETED, inside));
        Files.move(outside, inside);
        assertThat(next()).isEqualTo(event(Kind.CREATED, inside));
        assertQuiet();
    }

    @Test
    void aFileIsWatchedByItsName() throws Exception {
        Path file = directory.resolve("config");
        watch.watch(file);
        Files.createFile(directory.resolve("another"));
        Files.createFile(file);
        assertThat(next()).isEqualTo(event(Kind.CREATED, file));

        // As editors save: the file of that name is another one now.
        Files.writeString(elsewhere.resolve("draft"), "new");
        Files.move(elsewhere.resolve("draft"), file, StandardCopyOption.ATOMIC_MOVE);
        assertThat(next()).isEqualTo(event(Kind.CREATED, file));
        Files.writeString(file, "newer");
        assertThat(next()).isEqualTo(event(Kind.MODIFIED, file));
        Files.delete(file);
        assertThat(nextOther(Kind.MODIFIED)).isEqualTo(event(Kind.DELETED, file));
        assertQuiet();
    }

    @Test
    void onlyTheKindsThatWereAskedForAreReported() throws Exception {
        watch.watch(directory, Kind.DELETED);
        Path file = Files.createFile(directory.resolve("a"));
        Files.writeString(file, "x");
        Files.delete(file);

        assertThat(next()).isEqualTo(event(Kind.DELETED, file));
        watch.watch(directory, Kind.CREATED);
        Files.createFile(file);
        assertThat(next()).isEqualTo(event(Kind.CREATED, file));
        Files.delete(file);
        assertQuiet();
    }

    @Test
    void anUnwatchedPathIsSilent() throws Exception {
        watch.watch(directory);
        assertThat(watch.unwatch(directory)).isTrue();
        assertThat(watch.unwatch(directory)).isFalse();
        Files.createFile(directory.resolve("a"));

        assertQuiet();
    }

    @Test
    void aDirectoryThatIsRemovedEndsItsWatchWithALastEvent() throws Exception {
        watch.watch(directory);
        shell("rmdir " + directory);

        assertThat(next()).isEqualTo(event(Kind.DELETED, directory));
        assertThat(watch.unwatch(directory)).isFalse();
        Files.createDirectory(directory);
        Files.createFile(directory.resolve("a"));
        assertQuiet();
        watch.watch(directory);
        Files.createFile(directory.resolve("b"));
        assertThat(next()).isEqualTo(event(Kind.CREATED, directory.resolve("b")));
    }

    @Test
    @DisplayName("mr-6: a directory that is moved away ends its watch with a last event")
    void aDirectoryThatIsMovedAwayEndsItsWatchToo() throws Exception {
        watch.watch(directory);
        Files.move(directory, elsewhere.resolve("moved"));

        assertThat(next()).isEqualTo(event(Kind.DELETED, directory));
        Files.createFile(elsewhere.resolve("moved").resolve("a"));
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: so does that of a watched file, and one that has its name then may be watched anew")
    void theDirectoryOfAWatchedFileIsMovedAway() throws Exception {
        Path file = Files.createFile(directory.resolve("a"));
        watch.watch(file);
        Files.move(directory, elsewhere.resolve("moved"));

        assertThat(next()).isEqualTo(event(Kind.DELETED, file));
        Files.writeString(elsewhere.resolve("moved").resolve("a"), "not there");
        assertQuiet();
        Files.createDirectory(directory);
        watch.watch(file);
        Files.createFile(file);
        assertThat(next()).isEqualTo(event(Kind.CREATED, file));
        assertThat(watch.unwatch(file)).isTrue();
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: a move is told to whoever asked for moves, and its ends to whoever asked for those")
    void aMoveIsToldToEveryoneWhoAsked() throws Exception {
        Path from = Files.createFile(directory.resolve("a"));
        Path to = directory.resolve("b");
        watch.watch(directory, Kind.MOVED);
        watch.watch(from, Kind.DELETED);
        watch.watch(to, Kind.CREATED);
        Files.move(from, to);

        if (backend == Rig.Backend.NIO) {
            assertThat(List.of(next(), next())).containsExactly(event(Kind.DELETED, from), event(Kind.CREATED, to));
        } else {
            assertThat(List.of(next(), next(), next()))
                    .containsExactly(moved(from, to), event(Kind.DELETED, from), event(Kind.CREATED, to));
        }
        assertQuiet();
    }

    @Test
    @DisplayName("mr-6: whoever asks for moves only is told of them, also where the system tells their ends")
    void onlyMovesAreAskedFor() throws Exception {
        Path from = Files.createFile(directory.resolve("a"));
        Path to = directory.resolve("b");
        watch.watch(directory, Kind.MOVED);
        Files.move(from, to);

        assertMoved(from, to);
        assertQuiet();
    }

    @Test
    void anEdgeIsDrainedByPollingToNull() throws Exception {
        watch.watch(directory, Kind.CREATED);
        rig.poll.register(watch, 1, Interest.READABLE, Trigger.EDGE);
        for (int i = 0; i < 3; i++) {
            Path a = Files.createFile(directory.resolve("a" + i));
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
            assertThat(watch.poll()).isEqualTo(event(Kind.CREATED, a));
            assertThat(watch.poll()).isNull();
        }
        assertThat(rig.reports(Duration.ZERO)).isFalse();
    }

    @Test
    @DisplayName("what does not fit into the kernel's queue is reported as an overflow")
    void anOverflowIsReported() throws Exception {
        assumeTrue(
                backend == Rig.Backend.EPOLL, "the same code as poll(2)'s; the JDK's service has a queue of its own");
        // By lines: such a file gives all of itself to the first read, and Files.readString begins with one byte.
        int room = Integer.parseInt(Files.readAllLines(Path.of("/proc/sys/fs/inotify/max_queued_events"))
                .getFirst());
        assumeTrue(room <= 100_000, "the queue is too long to fill here");
        watch.watch(directory);
        for (int i = 0; i <= room; i += 2) {
            Files.delete(Files.createFile(directory.resolve("a")));
        }

        long seen = 0;
        FileEvent last = null;
        for (FileEvent event = watch.poll(); event != null; event = watch.poll()) {
            seen++;
            last = event;
        }

        assertThat(seen).isEqualTo(room + 1L);
        assertThat(last).isEqualTo(new FileEvent(Kind.OVERFLOW, null, null));
    }

    @Test
    void theDirectoryMustBeThere() {
        assertThatThrownBy(() -> watch.watch(temporary.resolve("not").resolve("there")))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("its directory is not there");
    }

    @Test
    @DisplayName("mr-6: no thread helps on descriptors")
    void noThreadHelpsOnDescriptors() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (FileWatch another = rig.net.fileWatch()) {
            another.watch(directory);
            Files.createFile(directory.resolve("a"));
            rig.await(another, Interest.READABLE);
            assertThat(another.poll()).isNotNull();

            assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !before.contains(thread))
                            .map(thread -> thread.getName().toLowerCase(Locale.ROOT))
                            .anyMatch(name -> name.contains("watch")))
                    .isEqualTo(backend == Rig.Backend.NIO);
        }
    }

    @Test
    void aClosedOneSaysSoAndHasNoDescriptorLeft() throws Exception {
        FileWatch[] opened = new FileWatch[1];
        int fd = ProcFs.opened("anon_inode:inotify", () -> opened[0] = rig.net.fileWatch());
        if (backend != Rig.Backend.NIO) {
            assertThat(ProcFs.isCloseOnExec(fd)).isTrue();
        }
        opened[0].watch(directory);
        opened[0].close();
        opened[0].close();

        assertThatThrownBy(() -> opened[0].poll()).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> opened[0].watch(directory)).isInstanceOf(ClosedChannelException.class);
        assertThat(opened[0].unwatch(directory)).isFalse();
        if (backend != Rig.Backend.NIO) {
            assertThat(ProcFs.isOpen(fd)).isFalse();
        }
    }

    private FileEvent next() throws IOException {
        for (; ; ) {
            FileEvent event = watch.poll();
            if (event != null) {
                return event;
            }
            rig.await(watch, Interest.READABLE);
        }
    }

    /** The next one of another kind: the same change may be told of several times. */
    private FileEvent nextOther(Kind than) throws IOException {
        for (; ; ) {
            FileEvent event = next();
            if (event.kind() != than) {
                return event;
            }
        }
    }

    /** Nothing is on its way: the next thing that is seen is one that happens now. */
    private void assertQuiet() throws IOException {
        Path witness = temporary.resolve("witness");
        watch.watch(witness, Kind.CREATED);
        Files.createFile(witness);
        assertThat(next()).isEqualTo(event(Kind.CREATED, witness));
        Files.delete(witness);
        watch.unwatch(witness);
    }

    private static void shell(String command) throws Exception {
        assertThat(new ProcessBuilder("sh", "-c", command).inheritIO().start().waitFor())
                .isZero();
    }

    private static FileEvent event(Kind kind, Path path) {
        return new FileEvent(kind, path, null);
    }

    private static FileEvent moved(Path from, Path to) {
        return new FileEvent(Kind.MOVED, to, from);
    }
}
