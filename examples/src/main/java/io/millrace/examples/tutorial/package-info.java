/**
 * The programs of docs/tutorial: a chat server in nine steps, in callbacks ({@code Chat1Echo} to {@code Chat9Nodes}) and in direct style ({@code Direct1Echo} to {@code
 * Direct9Nodes}). A step repeats only what it changes; what stays is taken from an earlier one.
 */
@NullMarked
package io.millrace.examples.tutorial;

import org.jspecify.annotations.NullMarked;
