/**
 * Runs Millrace beside its peers, in turns, and tells the ratios.
 *
 * <p>A {@link io.millrace.bench.runner.Suite} makes contests and gives them to its {@link io.millrace.bench.runner.Session}. A {@link
 * io.millrace.bench.runner.Contest} has contestants, a base line among them, and columns; {@link io.millrace.bench.runner.Rounds} measures every contestant once in
 * each round, in rotating order. A {@link io.millrace.bench.runner.Ratio} is taken within a round, so that what disturbs a round disturbs both of its sides. {@link
 * io.millrace.bench.runner.Table} shows them, {@link io.millrace.bench.runner.Report} keeps every round's figures.
 */
package io.millrace.bench.runner;
