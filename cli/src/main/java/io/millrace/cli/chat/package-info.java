/**
 * The service {@code chat}: {@link io.millrace.cli.chat.ChatRoom}, with lines and a broadcast, and {@link
 * io.millrace.cli.chat.SharedRoom}, the same on several nodes. Called by {@code cli}; uses {@code server} and {@code
 * backplane}.
 */
package io.millrace.cli.chat;
