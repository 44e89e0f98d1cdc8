package io.millrace.engine;

/** Names a task: see {@link EventManager#cancel}. */
public interface TaskKey extends Key {}
