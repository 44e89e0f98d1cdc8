package io.millrace.backplane;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A topic of a {@link Backplane}: what is published to it on one node reaches its subscribers on all nodes.
 *
 * <p>This is a name and costs nothing to make; two of the same name are the same topic. Any thread may call any method,
 * and none blocks.
 */
public final class Topic {
    private final Backplane backplane;
    private final String name;

    Topic(Backplane backplane, String name) {
        this.backplane = backplane;
        this.name = name;
    }

    /**
     * Returns its name.
     *
     * @return as it was asked for
     */
    public String name() {
        return name;
    }

    /**
     * Publishes a message. Messages of this node to this topic are delivered in the order of the calls. While the engine
     * is away they wait, within {@link Backplane.Builder#maxPending}; more are refused.
     *
     * @param data the message, copied before this returns; its position is moved to its limit
     * @return completes when the engine has stored it, with its position, on a thread of the manager; or fails with a
     *     {@link NotPublishedException}. Limit how many you have pending, and nothing is ever refused as {@link
     *     NotPublishedException.Reason#FULL}
     */
    public CompletableFuture<Position> publish(ByteBuffer data) {
        return backplane.publish(name, data);
    }

    /**
     * Publishes text as UTF-8.
     *
     * @param text the message
     * @return as {@link #publish(ByteBuffer)}
     */
    public CompletableFuture<Position> publish(String text) {
        return publish(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Subscribes to what is published from now on. A message whose {@code publish} is called after {@link
     * Subscription#position} is not null is not missed.
     *
     * @param subscriber gets the messages
     * @return to end it
     */
    public Subscription subscribe(Subscriber subscriber) {
        return backplane.subscribe(name, subscriber, new Subscription.Start.Now(), null);
    }

    /**
     * Subscribes, beginning with the last messages.
     *
     * @param count how many of them; fewer if the history is shorter
     * @param subscriber gets the messages
     * @return to end it
     * @throws IllegalArgumentException if the count is negative
     */
    public Subscription subscribeFromLast(int count, Subscriber subscriber) {
        return backplane.subscribe(name, subscriber, last(count), null);
    }

    static Subscription.Start last(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("the number of messages is not negative: " + count);
        }
        return new Subscription.Start.Last(count);
    }

    /**
     * Comes back: subscribes to what follows a position. What is no longer in the history is told as a gap.
     *
     * @param position where a subscription was, on this or another node
     * @param subscriber gets the messages
     * @return to end it
     */
    public Subscription subscribeAfter(Position position, Subscriber subscriber) {
        return backplane.subscribe(
                name, subscriber, new Subscription.Start.After(Objects.requireNonNull(position, "position")), null);
    }

    /**
     * Has somebody enter the topic, which {@link #members} on all nodes and {@link Subscriber#onEntered} tell.
     *
     * @param member its name on this node, not longer than 200 characters; if it enters again, it leaves when it has left
     *     as often
     * @return to leave
     * @throws IllegalArgumentException if the name is empty or too long
     */
    public Presence enter(String member) {
        return backplane.enter(name, member);
    }

    /**
     * Returns who is present, as far as this node has heard: changes elsewhere take as long as a message, and a node that
     * dies is noticed after {@link Backplane.Builder#timeout}.
     *
     * @return by name
     */
    public List<Member> members() {
        return backplane.members(name);
    }

    @Override
    public String toString() {
        return "topic " + name + " of " + backplane;
    }
}
