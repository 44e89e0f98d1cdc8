package io.millrace.sys.posix;

import io.millrace.sys.call.Native;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Signals sent to this process, received through the JVM's {@code sun.misc.Signal}. A signalfd would not work, because
 * it requires every thread to block the signal, and the JVM's threads do not.
 *
 * <p>{@code sun.misc} is used through method handles, because javac's warning about it cannot be suppressed with {@code
 * --release}.
 *
 * <p><b>One handler per signal.</b> However many listeners a signal has, the JVM knows one handler: the first listener
 * installs it and keeps the previous one, the last one restores that. So listeners may come and go in any order. If
 * other code has replaced our handler meanwhile, theirs stays.
 */
public final class Signals {
    /** A listener's subscription. Closing is idempotent, from any thread; a call in progress may finish after it. */
    public interface Listening extends AutoCloseable {
        @Override
        void close();
    }

    /** Signals that a listener would break, and why; also those that the JVM would refuse with only "already used". */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("KILL", "the kernel lets nobody catch it"),
            Map.entry("STOP", "the kernel lets nobody catch it"),
            Map.entry("QUIT", "the JVM prints its threads on it"),
            Map.entry("SEGV", "the JVM needs it for null checks and safepoints"),
            Map.entry("BUS", "the JVM needs it for mapped files"),
            Map.entry("FPE", "the JVM needs it for divisions by zero"),
            Map.entry("ILL", "the JVM needs it for its compiled code"),
            Map.entry("TRAP", "the JVM needs it for its compiled code"),
            Map.entry("ABRT", "the JVM is about to end when it comes"),
            Map.entry("PIPE", "the JVM catches it so that a write to a closed pipe is an error and not the end"),
            Map.entry("XFSZ", "the JVM catches it so that a file that is too large is an error and not the end"));

    private static final String NAMES = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT"
            + " CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

    /** By signal; guarded by itself. */
    private static final Map<String, Entry> HEARD = new HashMap<>();

    private Signals() {}

    private static final class Entry {
        final Object signal;
        final Object handler;
        final Object before;
        /** Replaced as a whole, because signals are passed on without the lock. */
        volatile List<Listener> listeners = List.of();

        Entry(Object signal) throws Throwable {
            this.signal = signal;
            this.handler = Jvm.handler(() -> {
                for (Listener listener : listeners) {
                    listener.callback.run();
                }
            });
            this.before = Jvm.handle(signal, handler);
        }

        /** Restores the previous handler, unless other code has replaced ours. */
        @SuppressWarnings("ReferenceEquality") // compares identity on purpose
        void restore() throws Throwable {
            Object present = Jvm.handle(signal, before);
            if (present != handler) {
                Jvm.handle(signal, present);
            }
        }
    }

    private record Listener(String name, Runnable callback) implements Listening {
        @Override
        public void close() {
            remove(this);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** Returns {@code TERM} for {@code TERM} and for {@code SIGTERM}. */
    public static String plainName(String name) {
        return name.startsWith("SIG") ? name.substring(3) : name;
    }

    /**
     * Listens to a signal, which then no longer has its previous effect.
     *
     * @param name without SIG
     * @param callback called for each signal that the JVM delivers, on a thread that the JVM creates for it; must be
     *     short
     * @throws IllegalArgumentException if there is no such signal, or it cannot be listened to
     */
    public static Listening listen(String name, Runnable callback) {
        String refusal = REFUSED.get(name);
        if (refusal != null) {
            throw new IllegalArgumentException("cannot listen to SIG" + name + ": " + refusal + "; choose another one");
        }
        Listener listener = new Listener(name, callback);
        synchronized (HEARD) {
            Entry entry = HEARD.get(name);
            if (entry == null) {
                entry = install(name);
                HEARD.put(name, entry);
            }
            List<Listener> more = new ArrayList<>(entry.listeners);
            more.add(listener);
            entry.listeners = List.copyOf(more);
        }
        return listener;
    }

    private static Entry install(String name) {
        Object signal = signal(name);
        try {
            return new Entry(signal);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "cannot listen to SIG" + name + ": " + e.getMessage()
                            + "; if java was started with -Xrs, which leaves HUP, INT and TERM to the system, start it"
                            + " without, or choose another signal",
                    e);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    private static void remove(Listener listener) {
        synchronized (HEARD) {
            Entry entry = HEARD.get(listener.name);
            if (entry == null || !entry.listeners.contains(listener)) {
                return;
            }
            entry.listeners = entry.listeners.stream()
                    .filter(other -> !other.equals(listener))
                    .toList();
            if (entry.listeners.isEmpty()) {
                HEARD.remove(listener.name);
                try {
                    entry.restore();
                } catch (Throwable e) {
                    throw Native.unexpected(e);
                }
            }
        }
    }

    /**
     * Returns this system's number of a signal.
     *
     * @param name without SIG
     * @throws IllegalArgumentException if there is no such signal
     */
    public static int number(String name) {
        Object signal = signal(name);
        try {
            return (int) Jvm.NUMBER.invoke(signal);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /** Returns, for example, {@code SIGTERM} for 15, or {@code signal 40} for one without a name. */
    public static String describe(int number) {
        return Optional.ofNullable(Names.BY_NUMBER.get(number))
                .map(name -> "SIG" + name)
                .orElse("signal " + number);
    }

    private static Object signal(String name) {
        try {
            return Jvm.SIGNAL.invoke(name);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "there is no signal " + name + " here; signals have names such as INT, TERM, HUP, USR1", e);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    private static final class Names {
        static final Map<Integer, String> BY_NUMBER = byNumber();

        private static Map<Integer, String> byNumber() {
            Map<Integer, String> names = new HashMap<>();
            for (String name : NAMES.split(" ", -1)) {
                names.putIfAbsent(numberOrZero(name), name);
            }
            names.remove(0);
            return names;
        }

        /** Zero is not a signal: the name belongs to another system. */
        private static int numberOrZero(String name) {
            try {
                return number(name);
            } catch (IllegalArgumentException e) {
                return 0;
            }
        }
    }

    /** {@code sun.misc.Signal}, by name. */
    private static final class Jvm {
        static final MethodHandle SIGNAL;
        static final MethodHandle NUMBER;
        private static final MethodHandle HANDLE;
        private static final Class<?> HANDLER;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.publicLookup();
                Class<?> signal = Class.forName("sun.misc.Signal");
                HANDLER = Class.forName("sun.misc.SignalHandler");
                SIGNAL = lookup.findConstructor(signal, MethodType.methodType(void.class, String.class));
                NUMBER = lookup.findVirtual(signal, "getNumber", MethodType.methodType(int.class));
                HANDLE = lookup.findStatic(signal, "handle", MethodType.methodType(HANDLER, signal, HANDLER));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(
                        "this JVM has no sun.misc.Signal: add the module jdk.unsupported (--add-modules)", e);
            }
        }

        private Jvm() {}

        static Object handle(Object signal, Object handler) throws Throwable {
            return HANDLE.invoke(signal, handler);
        }

        @SuppressWarnings("ReferenceEquality") // as in Object.equals
        static Object handler(Runnable callback) {
            return Proxy.newProxyInstance(
                    HANDLER.getClassLoader() == null ? Signals.class.getClassLoader() : HANDLER.getClassLoader(),
                    new Class<?>[] {HANDLER},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "handle" -> {
                            callback.run();
                            yield null;
                        }
                        case "hashCode" -> System.identityHashCode(proxy);
                        case "equals" -> proxy == arguments[0];
                        default -> "Millrace's signal handler";
                    });
        }
    }
}
