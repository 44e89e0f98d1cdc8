/**
 * {@code serve http}: the files of a directory over HTTP/1.1, on the public API of {@code server} alone. An example to
 * read, and a server for files that need no more than this.
 *
 * <p><b>What lives here.</b> {@link io.millrace.cli.http.HeadFraming} finds the head of a request, {@link
 * io.millrace.cli.http.Request} reads it, {@link io.millrace.cli.http.Target} makes names of its path, {@link
 * io.millrace.cli.http.Site} finds the file, {@link io.millrace.cli.http.Preconditions} and {@link
 * io.millrace.cli.http.ByteRange} decide what of it is wanted, and {@link io.millrace.cli.http.HttpHandler} answers.
 *
 * <p><b>Who may call it.</b> {@code Service}. <b>What it may call.</b> Only what users can.
 */
package io.millrace.cli.http;
