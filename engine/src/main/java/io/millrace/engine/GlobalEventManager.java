package io.millrace.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one {@link EventManager} of the process that the library uses where it is given none.
 *
 * <p>It is yours if you {@link #register} one before the first use, else one is made at the first use, with daemon threads. It is never
 * closed by the library.
 */
public final class GlobalEventManager {
    private static final Object LOCK = new Object();
    private static volatile @Nullable EventManager global;

    private GlobalEventManager() {}

    /**
     * Makes a manager of yours the global one. It must outlive all use of the library.
     *
     * @param manager any
     * @throws IllegalStateException if one was registered before, or the global one is in use already; nothing is changed
     */
    public static void register(EventManager manager) {
        Objects.requireNonNull(manager, "manager");
        synchronized (LOCK) {
            EventManager present = global;
            if (present != null) {
                throw new IllegalStateException("cannot register " + manager + " as the global event manager: "
                        + present + " is that already; register yours once, before anything of the library is used");
            }
            global = manager;
        }
    }

    /**
     * The global manager; made now if there is none.
     *
     * @return the same one on every call
     */
    public static EventManager global() {
        EventManager present = global;
        if (present != null) {
            return present;
        }
        synchronized (LOCK) {
            if (global == null) {
                global = Reactors.builder().name("millrace").daemon(true).open();
            }
            return Objects.requireNonNull(global);
        }
    }
}
