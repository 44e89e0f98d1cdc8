package io.millrace.engine;

import java.lang.System.Logger.Level;

/** Where failures of user code go that have no handler of their own. */
final class Failures {
    private static final System.Logger LOGGER = System.getLogger("io.millrace");

    private Failures() {}

    static void log(Object what, Throwable cause) {
        LOGGER.log(Level.ERROR, what + " failed; everything else goes on", cause);
    }

    static void warn(String message) {
        LOGGER.log(Level.WARNING, message);
    }
}
