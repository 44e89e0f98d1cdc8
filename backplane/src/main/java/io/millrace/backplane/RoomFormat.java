package io.millrace.backplane;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * How the connections of {@link Rooms} are told what happens: your protocol. Called once for all connections of a room
 * on this node, not once for each.
 */
@FunctionalInterface
public interface RoomFormat {
    /**
     * Returns the bytes for a message.
     *
     * @param room the name of the room
     * @param message what was published
     * @return what its connections are sent; null for nothing
     */
    @Nullable
    ByteBuffer message(String room, Message message);

    /**
     * Returns the bytes that say that messages are missing, or may be.
     *
     * @param room the name of the room
     * @param gap from where to where
     * @return what its connections are sent; null for nothing, which is the default
     */
    default @Nullable ByteBuffer gap(String room, Gap gap) {
        return null;
    }

    /**
     * Returns the bytes that say that somebody has entered the topic.
     *
     * @param room the name of the room
     * @param member who, on whatever node
     * @return what the connections are sent that are in the room; null for nothing, which is the default
     */
    default @Nullable ByteBuffer entered(String room, Member member) {
        return null;
    }

    /**
     * Returns the bytes that say that somebody has left the topic.
     *
     * @param room the name of the room
     * @param member who, on whatever node
     * @return what the connections are sent that are in the room; null for nothing, which is the default
     */
    default @Nullable ByteBuffer left(String room, Member member) {
        return null;
    }
}
