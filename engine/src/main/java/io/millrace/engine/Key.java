package io.millrace.engine;

/**
 * Identifies one task or alarm of one {@link EventManager}, so that it can be cancelled. Keys are never reused, so
 * cancelling what is over is harmless.
 */
public interface Key {}
