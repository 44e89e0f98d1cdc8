/**
 * What the modules above share and users do not see: the timer wheel, the slab of slots, and the handle that represents
 * a source of {@code net} in a {@code Poll}. Exported only to {@code net}, {@code task}, {@code engine} and {@code
 * server}.
 */
package io.millrace.poll.internal;
