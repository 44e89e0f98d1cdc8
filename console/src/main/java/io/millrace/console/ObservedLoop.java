package io.millrace.console;

import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.StallReport;

/**
 * A loop under a name that no other loop of this console has.
 *
 * @param name the loop's own name; with a number behind it if another one has it, too
 */
record ObservedLoop(String name, LoopView view) {
    Metrics metrics() {
        return view.metrics();
    }

    StallReport stalls() {
        return view.stalls();
    }
}
