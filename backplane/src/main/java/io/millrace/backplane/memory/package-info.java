/**
 * The engine {@code memory:}, for nodes in one process. Called by the service loader; {@code testkit} calls what has it
 * fail.
 */
@NullMarked
package io.millrace.backplane.memory;

import org.jspecify.annotations.NullMarked;
