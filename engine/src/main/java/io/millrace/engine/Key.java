package io.millrace.engine;

/**
 * Names one task or alarm of one {@link EventManager}, so that it can be cancelled. A key is never used for anything else afterwards:
 * cancelling what is over is harmless.
 */
public interface Key {}
