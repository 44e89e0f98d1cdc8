package io.millrace.backplane.spi;

import io.millrace.backplane.Position;

/** A record of a log. */
public final class StoredRecord {
    private final Position position;
    private final byte[] bytes;

    /**
     * Makes one.
     *
     * @param position its position
     * @param bytes as they were appended; kept, and not changed by anybody
     */
    public StoredRecord(Position position, byte[] bytes) {
        this.position = position;
        this.bytes = bytes;
    }

    /**
     * Returns where it is.
     *
     * @return its position
     */
    public Position position() {
        return position;
    }

    /**
     * Returns what was appended.
     *
     * @return not a copy; must not be changed
     */
    public byte[] bytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return "record " + position + ", " + bytes.length + " bytes";
    }
}
