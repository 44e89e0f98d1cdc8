/**
 * What an engine must supply: logs of records, one for each topic. {@link io.millrace.backplane.spi.Engine} is the whole
 * of it. Everything else, such as bounds, catching up, gaps and presence, is done once for all engines, above it.
 */
@NullMarked
package io.millrace.backplane.spi;

import org.jspecify.annotations.NullMarked;
