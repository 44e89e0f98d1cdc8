package io.millrace.engine.transport;

import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Leads from a manager to its loops. Implemented in the package of {@link Reactors}, which hands it over here; so none of it is public there. */
public abstract class TransportAccess {
    private static volatile @Nullable TransportAccess instance;

    /** For the one implementation. */
    protected TransportAccess() {}

    /**
     * The one there is.
     *
     * @return available once a {@link Reactors} was opened
     */
    public static TransportAccess get() {
        return Objects.requireNonNull(instance, "open Reactors first");
    }

    /**
     * By the class {@link Reactors}, when it is initialised.
     *
     * @param access the implementation
     */
    public static void set(TransportAccess access) {
        instance = access;
    }

    /**
     * The loops of a manager that carries connections itself.
     *
     * @param manager any
     * @return empty if it is not ours
     */
    public abstract List<? extends ServerLoop> loops(EventManager manager);
}
