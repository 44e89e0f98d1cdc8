package io.millrace.conformance;

import io.millrace.sys.Family;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import java.io.IOException;

/** A selector in front of another: does what that one does, under a name of its own. */
class DelegatingSelector implements Selector {
    private final String name;
    private final Selector real;

    DelegatingSelector(String name, Selector real) {
        this.name = name;
        this.real = real;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Family family() {
        return real.family();
    }

    @Override
    public boolean controlsAtOnce() {
        return real.controlsAtOnce();
    }

    @Override
    public void add(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        real.add(handle, key, interest, trigger);
    }

    @Override
    public void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        real.modify(handle, key, interest, trigger);
    }

    @Override
    public void remove(SystemHandle handle, long key) throws IOException {
        real.remove(handle, key);
    }

    @Override
    public boolean emulatesTriggers() {
        return real.emulatesTriggers();
    }

    @Override
    public boolean rearm(long key, int ready) {
        return real.rearm(key, ready);
    }

    @Override
    public int await(long timeoutNanos, int maxEvents) throws IOException {
        return real.await(timeoutNanos, maxEvents);
    }

    @Override
    public long key(int event) {
        return real.key(event);
    }

    @Override
    public int readiness(int event) {
        return real.readiness(event);
    }

    @Override
    public void wake() {
        real.wake();
    }

    @Override
    public void close() {
        real.close();
    }

    @Override
    public String toString() {
        return name + " over " + real;
    }
}
