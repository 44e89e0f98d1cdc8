package io.millrace.server;

/**
 * What a {@link DirectServer} runs for each connection, on a virtual thread of its own: plain code that blocks.
 *
 * {@snippet :
 * Conversation echo = socket -> {
 *     for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
 *         socket.write(line + "\n");
 *     }
 * };
 * }
 */
@FunctionalInterface
public interface Conversation {
    /**
     * Called once for each connection. When it returns, the connection is closed after pending output was sent.
     *
     * @param socket the connection; it is closed when this returns, whatever other threads do with it
     * @throws Exception closes the connection too. It is logged as a warning with its stack, unless it tells of the
     *     connection's own end: the peer has gone, what it sent is too long or incomplete, a time limit has passed, or the
     *     server is being shut down
     */
    void talk(DirectSocket socket) throws Exception;
}
