package io.millrace.engine;

/** Identifies a task: see {@link EventManager#cancel}. */
public interface TaskKey extends Key {}
