/** The command line: reads arguments, starts what they ask for, and turns failures into one clear line. */
package io.millrace.cli;
