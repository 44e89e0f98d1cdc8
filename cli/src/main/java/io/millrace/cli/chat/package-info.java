/**
 * The service {@code chat}: {@link io.millrace.cli.chat.ChatRoom}, with lines and a broadcast. Called by {@code cli};
 * uses only {@code server}.
 */
package io.millrace.cli.chat;
