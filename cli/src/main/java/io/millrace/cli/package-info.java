/**
 * The command line: reads arguments, starts what they ask for, and turns failures into one clear line.
 *
 * <p>{@link io.millrace.cli.CommandLines} says which words there are, {@link io.millrace.cli.Main} which class does what they ask. A server that people start is a {@link
 * io.millrace.cli.Service}; {@link io.millrace.cli.Serve} runs any of them, from the first line to the last.
 */
package io.millrace.cli;
