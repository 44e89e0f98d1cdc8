package io.millrace.engine;

/** Identifies an alarm: see {@link EventManager#cancel}. */
public interface AlarmKey extends Key {}
