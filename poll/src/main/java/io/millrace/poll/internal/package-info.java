/**
 * What the layers above share and users do not see: the timer wheel, the slab of slots, and the handle by which a source of
 * {@code net} stands in a {@code Poll}. Exported to {@code net}, {@code task}, {@code engine} and {@code server} only.
 */
package io.millrace.poll.internal;
