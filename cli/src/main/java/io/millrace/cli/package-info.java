/**
 * The command line: reads arguments, starts what they ask for, and turns failures into one clear line.
 *
 * <p><b>What lives here.</b> {@link io.millrace.cli.CommandLines} defines the commands and options; {@link
 * io.millrace.cli.Main} runs them. A server that can be started is a {@link io.millrace.cli.Service}; {@link
 * io.millrace.cli.Serve} runs it, from the first line to the last.
 *
 * <p><b>Who may call it.</b> The launcher {@code ./millrace}; no other module depends on it.
 *
 * <p><b>What it may call.</b> Only what users can: {@code server}, {@code engine}, {@code net} and {@code poll}.
 */
package io.millrace.cli;
