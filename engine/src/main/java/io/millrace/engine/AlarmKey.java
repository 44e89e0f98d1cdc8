package io.millrace.engine;

/** Names an alarm: see {@link EventManager#cancel}. */
public interface AlarmKey extends Key {}
