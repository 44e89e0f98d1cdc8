package io.millrace.sys.selector;

import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import io.millrace.sys.SelectorProvider.Refusal;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Os;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.StringJoiner;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which mechanisms this machine has, and chooses the best.
 *
 * <p>A backend is passed over only for a reason that will not go away by itself: the system has no such call, a filter
 * denies it, or native access is not granted. Running out of descriptors is not such a reason; it is reported to the
 * caller.
 */
public final class Backends {
    /** A backend that was not chosen, and what would change that. */
    public record Passed(String name, String reason, String remedy) {}

    /**
     * The choice.
     *
     * @param selector an open selector, which the caller must close
     * @param remark what a user should know about it, or empty
     * @param passedOver the better ones, best first
     */
    public record Opened(Selector selector, String remark, List<Passed> passedOver) {}

    private Backends() {}

    /**
     * Opens the best backend, or exactly the one that was asked for.
     *
     * @param forced a backend's name, or null for the best
     * @param forcedBy where it was asked for, for the message
     * @throws IllegalArgumentException if there is no backend with that name
     * @throws IllegalStateException if the forced one, or every one, cannot be opened here
     */
    public static Opened open(@Nullable String forced, String forcedBy) throws IOException {
        return forced == null ? openBest() : openForced(forced, forcedBy);
    }

    private static Opened openBest() throws IOException {
        List<Passed> passedOver = new ArrayList<>();
        for (SelectorProvider provider : byDefault()) {
            Refusal refusal = provider.refusal();
            if (refusal == null) {
                return new Opened(provider.open(), provider.remark(), List.copyOf(passedOver));
            }
            passedOver.add(new Passed(provider.name(), refusal.reason(), refusal.remedy()));
        }
        throw new IllegalStateException("no backend can open: " + passedOver);
    }

    private static Opened openForced(String name, String forcedBy) throws IOException {
        StringJoiner known = new StringJoiner(", ");
        for (SelectorProvider provider : all()) {
            if (provider.name().equals(name)) {
                Refusal refusal = provider.refusal();
                if (refusal != null) {
                    throw new IllegalStateException("cannot open backend " + name + ", asked for by " + forcedBy + ": "
                            + refusal.reason() + ". " + refusal.remedy());
                }
                return new Opened(provider.open(), provider.remark(), List.of());
            }
            known.add(provider.name());
        }
        throw new IllegalArgumentException(
                "there is no backend " + name + ", asked for by " + forcedBy + "; there are " + known);
    }

    /** Returns every backend that can be asked for by name, the built-in ones first. */
    public static List<SelectorProvider> all() {
        List<SelectorProvider> all = new ArrayList<>(builtIn());
        ServiceLoader.load(SelectorProvider.class).forEach(all::add);
        return all;
    }

    /**
     * Returns the backends to choose from by default, best first. A kqueue on a system without one is an emulation, so
     * it must be asked for by name.
     */
    static List<SelectorProvider> byDefault() {
        return builtIn().stream()
                .filter(provider ->
                        !provider.equals(BuiltIn.KQUEUE) || Os.current().isBsd())
                .toList();
    }

    /** Best first. */
    private static List<SelectorProvider> builtIn() {
        return BuiltIn.LIST;
    }

    private static final class BuiltIn {
        static final SelectorProvider KQUEUE =
                new Provider(
                        "kqueue",
                        "urgent data is not reported",
                        () -> probe(null, "kqueue", KqueueSelector::open),
                        KqueueSelector::open) {
                    @Override
                    public synchronized @Nullable Refusal refusal() {
                        Refusal missing = KqueueSelector.missing(); // not cached, because it depends on settings
                        return missing != null ? missing : super.refusal();
                    }
                };

        static final List<SelectorProvider> LIST = List.of(
                new Provider("epoll", "", () -> probe(Os.LINUX, "epoll", EpollSelector::open), EpollSelector::open),
                KQUEUE,
                new Provider(
                        "poll",
                        "its wait is linear in the number of registered descriptors",
                        () -> probe(null, "poll(2)", PollSelector::open),
                        PollSelector::open),
                new Provider(
                        "nio",
                        "sockets only; closed and error hints are not reported; edges are emulated",
                        () -> null,
                        NioSelector::open));
    }

    /** Opens and closes a selector, and turns a failure into a reason. Runs once per backend and process. */
    private static @Nullable Refusal probe(@Nullable Os only, String mechanism, Opener opener) {
        if (only != null && Os.current() != only) {
            return new Refusal(
                    "there is no " + mechanism + " on " + System.getProperty("os.name"),
                    "Nothing to do: it is another system's.");
        }
        if (System.getProperty("os.name", "").startsWith("Windows")) {
            return new Refusal("there is no " + mechanism + " on Windows", "Nothing to do: it is another system's.");
        }
        try {
            opener.open().close();
            return null;
        } catch (ErrnoException e) {
            if (e.is(Errno.EMFILE) || e.is(Errno.ENFILE) || e.is(Errno.ENOMEM)) {
                return null; // temporary: let open() report it to the caller
            }
            return new Refusal(
                    "cannot open " + mechanism + ": " + e.getMessage(),
                    e.is(Errno.EPERM) || e.is(Errno.EACCES)
                            ? "A seccomp filter or security policy denies the call: allow it for this process."
                            : "Use a kernel that has it.");
        } catch (IOException e) {
            return new Refusal("cannot open " + mechanism + ": " + e.getMessage(), "See the reason.");
        } catch (IllegalCallerException | LinkageError e) {
            return nativeRefusal(mechanism, e);
        }
    }

    private static Refusal nativeRefusal(String mechanism, Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root instanceof IllegalCallerException
                || !Backends.class.getModule().isNativeAccessEnabled()) {
            String module = Backends.class.getModule().isNamed() ? "io.millrace.sys" : "ALL-UNNAMED";
            return new Refusal(
                    "native access is denied to this JVM's module " + module + ", so " + mechanism
                            + " cannot be called",
                    "Start java with --enable-native-access=" + module + ".");
        }
        return new Refusal(
                "cannot link " + mechanism + ": " + root.getMessage(),
                "This C library lacks a function that we need (musl or an old glibc?); use a newer one.");
    }

    private interface Opener {
        Selector open() throws IOException;
    }

    /** A built-in backend; its probe runs at the first use, and its result is kept. */
    private static class Provider implements SelectorProvider {
        private final String name;
        private final String remark;
        private final Supplier<@Nullable Refusal> probe;
        private final Opener opener;
        private boolean probed;
        private @Nullable Refusal refusal;

        Provider(String name, String remark, Supplier<@Nullable Refusal> probe, Opener opener) {
            this.name = name;
            this.remark = remark;
            this.probe = probe;
            this.opener = opener;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public synchronized @Nullable Refusal refusal() {
            if (!probed) {
                refusal = probe.get();
                probed = true;
            }
            return refusal;
        }

        @Override
        public String remark() {
            return remark;
        }

        @Override
        public Selector open() throws IOException {
            return opener.open();
        }
    }
}
