package io.millrace.net;

import java.time.Duration;

/** Times that the kernel counts in seconds. */
final class Seconds {
    private Seconds() {}

    /** Rounded up, so that nothing happens early. */
    static int ceil(Duration time, String what, int least, int most) {
        long seconds = time.toSeconds() + (time.toNanosPart() > 0 ? 1 : 0);
        if (time.isNegative() || seconds < least || seconds > most) {
            throw new IllegalArgumentException(
                    what + " is from " + least + " to " + most + " seconds long, not " + time);
        }
        return (int) seconds;
    }
}
