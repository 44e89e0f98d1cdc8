package io.millrace.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The {@link EventManager} that the library uses when it is not given one.
 *
 * <p>It is yours if you {@link #register} one before the first use. Otherwise one is created at the first use, with
 * daemon threads. The library never closes it.
 */
public final class GlobalEventManager {
    private static final Object LOCK = new Object();
    private static volatile @Nullable EventManager global;

    private GlobalEventManager() {}

    /**
     * Makes your manager the global one. It must outlive all use of the library.
     *
     * @param manager any manager
     * @throws IllegalStateException if one was registered before, or the global manager is already in use; nothing is
     *     changed
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
     * Returns the global manager, creating it if necessary.
     *
     * @return always the same one
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
