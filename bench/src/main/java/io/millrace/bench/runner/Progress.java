package io.millrace.bench.runner;

import java.io.PrintStream;
import java.time.Duration;

/** One line on standard error that says what is going on: overwritten on a terminal, else a line whenever it changes. */
final class Progress {
    private static final String CLEAR = "\r\u001b[K";

    private final PrintStream err;
    private final boolean terminal;
    private final long begin = System.nanoTime();

    Progress(PrintStream err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    static boolean isTerminal() {
        return System.console() != null && System.console().isTerminal();
    }

    void show(String what) {
        Duration since = Duration.ofNanos(System.nanoTime() - begin);
        String line = String.format("%d:%02d  %s", since.toMinutes(), since.toSecondsPart(), what);
        if (terminal) {
            err.print(CLEAR + line);
            err.flush();
        } else {
            err.println(line);
        }
    }

    /** Before something else is printed. */
    void clear() {
        if (terminal) {
            err.print(CLEAR);
            err.flush();
        }
    }
}
