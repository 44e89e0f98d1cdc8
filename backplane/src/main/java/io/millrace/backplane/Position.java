package io.millrace.backplane;

import java.util.Objects;

/**
 * A place in the history of a topic: behind the message with this offset.
 *
 * <p>Within an epoch, offsets count the messages: 1, 2, 3 … without holes. An epoch ends when the engine can no longer
 * vouch for what it had: it was restarted, or it has lost the topic. Offsets of different epochs cannot be compared. A
 * client can keep a position as text and come back with it, on any node.
 *
 * @param epoch chosen by the engine; letters, digits and dots
 * @param offset the number of the message, from 1 on; 0 is before the first one
 */
public record Position(String epoch, long offset) {
    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the epoch is empty or has other characters, or the offset is negative
     */
    public Position {
        Objects.requireNonNull(epoch, "epoch");
        if (epoch.isEmpty() || !epoch.chars().allMatch(Position::isAllowed)) {
            throw new IllegalArgumentException(
                    "an epoch has letters, digits and dots, and at least one, not \"" + epoch + "\"");
        }
        if (offset < 0) {
            throw new IllegalArgumentException("an offset is not negative: " + offset);
        }
    }

    private static boolean isAllowed(int c) {
        return c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    /**
     * Reads what {@link #toString} has written. Safe for text from strangers.
     *
     * @param text epoch, colon, offset
     * @return the position
     * @throws IllegalArgumentException if it is anything else
     */
    public static Position parse(String text) {
        int colon = text.indexOf(':');
        try {
            return new Position(text.substring(0, Math.max(0, colon)), Long.parseLong(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a position is epoch:offset, not \"" + text + "\"", e);
        }
    }

    /**
     * Returns the position as short text.
     *
     * @return epoch, colon, offset
     */
    @Override
    public String toString() {
        return epoch + ":" + offset;
    }
}
