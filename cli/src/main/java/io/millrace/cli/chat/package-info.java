/** A room in which everybody hears everybody: {@link io.millrace.cli.chat.ChatRoom}, on lines and a broadcast. */
package io.millrace.cli.chat;
