package io.millrace.backplane.spi;

import java.util.List;

/** Gets the new records of a log from an engine. Neither call blocks; one call at a time. */
public interface LogReader {
    /**
     * Called with records in the order of the log, without leaving out any but those that were trimmed.
     *
     * @param records at least one
     */
    void onRecords(List<StoredRecord> records);

    /**
     * Called when following has ended although the engine is connected, for example because the log was deleted. The
     * log is read and followed again.
     */
    void onBroken();
}
