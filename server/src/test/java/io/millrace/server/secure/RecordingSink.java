package io.millrace.server.secure;

import io.millrace.engine.transport.TransportSink;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Records what it is told, and notices what it must not be told. */
class RecordingSink implements TransportSink {
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    int connected;
    int endings;
    int writable;
    IOException failure;

    private void check(boolean allowed, String what) {
        if (!allowed) {
            throw new AssertionError(what + " after " + this);
        }
    }

    @Override
    public void onConnected() {
        connected++;
        check(connected == 1 && failure == null && endings == 0, "connected");
    }

    @Override
    public void onReceived(ByteBuffer data) {
        check(connected == 1 && failure == null && endings == 0 && data.hasRemaining(), "data");
        while (data.hasRemaining()) {
            received.write(data.get());
        }
    }

    @Override
    public void onEndOfInput() {
        endings++;
        check(connected == 1 && failure == null && endings == 1, "end");
    }

    @Override
    public void onWritable() {
        writable++;
        check(connected == 1 && failure == null, "writable");
    }

    @Override
    public void onFailed(IOException cause) {
        check(failure == null, "failure");
        failure = cause;
    }

    @Override
    public void onLoopEnd() {}

    boolean isOver() {
        return failure != null || endings > 0;
    }

    @Override
    public String toString() {
        return connected + " connects, " + received.size() + " bytes, " + endings + " ends, failure " + failure;
    }
}
