/**
 * Measures Millrace and other programs in turn, and reports the ratios.
 *
 * <p><b>What lives here.</b> A {@link io.millrace.bench.runner.Suite} creates comparisons and passes them to its {@link
 * io.millrace.bench.runner.Session}. A comparison ({@link io.millrace.bench.runner.Comparison}) has candidates, one of
 * them the baseline, and columns. {@link io.millrace.bench.runner.Rounds} measures every candidate once in each round,
 * in rotating order. A {@link io.millrace.bench.runner.Ratio} is taken within a round, so that a disturbance affects
 * both of its sides. {@link io.millrace.bench.runner.Table} prints them, and {@link io.millrace.bench.runner.Report}
 * keeps the figures of every round.
 *
 * <p><b>Who may call it.</b> {@code Main} of {@code io.millrace.bench}.
 *
 * <p><b>What it may call.</b> It starts the programs of {@code peers}, {@code ./millrace} and JMH as processes. It does
 * not use the library itself.
 */
package io.millrace.bench.runner;
