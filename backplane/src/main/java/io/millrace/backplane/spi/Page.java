package io.millrace.backplane.spi;

import io.millrace.backplane.Position;
import java.util.List;

/**
 * Some consecutive records of a log.
 *
 * @param start the position before the first one: what was asked for, or, if the engine no longer knows that, where it
 *     continues instead
 * @param records in order
 * @param end the position of the last record; or, if the page is complete, of the end of the log, which may be behind it
 *     if the last records were trimmed or a new epoch has no record yet
 * @param complete whether this was everything
 */
public record Page(Position start, List<StoredRecord> records, Position end, boolean complete) {}
