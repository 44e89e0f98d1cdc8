/**
 * Millrace's counters in Micrometer.
 *
 * <p><b>What lives here.</b> {@link io.millrace.micrometer.MillraceMetrics} registers the meters; {@code HistogramFeed}
 * passes a histogram on to a timer. <b>Who may call it.</b> Users. <b>What it may call.</b> The public views of {@code
 * engine} and {@code server}.
 */
package io.millrace.micrometer;
