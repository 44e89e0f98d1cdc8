/**
 * Benchmarks: {@code ./millrace bench}, and the JMH benchmarks that it runs.
 *
 * <p><b>What lives here.</b> {@link io.millrace.bench.Main} reads the command line. The classes named {@code …Bench} are
 * JMH benchmarks. {@link io.millrace.bench.TaskFigures} and its parts measure the sets of {@code task}; the other
 * programs measure what JMH cannot: idle waits, hand-overs, memory. {@code runner} compares Millrace with other
 * programs; {@code peers} has those programs.
 *
 * <p><b>Who may call it.</b> The launcher {@code ./millrace} and the tests of this module. No other module depends on
 * it.
 *
 * <p><b>What it may call.</b> All modules of the library through their public API, and the libraries that Millrace is
 * compared with.
 */
package io.millrace.bench;
