package io.millrace.cli.http;

import io.millrace.server.FrameBytes;
import io.millrace.server.Framing;
import java.time.Duration;

/**
 * Finds the head of a request: everything up to the empty line. A line that ends without CR ends the frame, because it is
 * refused; and so does a head that is too long, so that the client can be told. A head that takes too long closes the
 * connection, however steadily its bytes trickle in.
 *
 * @param maxBytes how long a head may be
 * @param timeLimit how long it may take from its first byte to its last
 */
record HeadFraming(int maxBytes, Duration timeLimit) implements Framing {
    @Override
    public void find(FrameBytes bytes) {
        int end = Math.min(bytes.size(), maxBytes);
        for (int i = bytes.searched(); i < end; i++) {
            if (bytes.get(i) != '\n') {
                continue;
            }
            boolean bare = i == 0 || bytes.get(i - 1) != '\r';
            boolean empty = i == 1 || (i >= 3 && bytes.get(i - 2) == '\n');
            if (bare || empty) {
                bytes.frame(i + 1L);
                return;
            }
        }
        if (end == maxBytes) {
            bytes.frame(maxBytes);
        }
    }
}
