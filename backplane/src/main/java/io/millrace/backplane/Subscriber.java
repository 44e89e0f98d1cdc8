package io.millrace.backplane;

/**
 * Your code for the messages of a topic.
 *
 * <p><b>What it can rely on.</b> The calls for one topic never overlap, not even those for different subscribers of this
 * node. Messages come in the order of the log, which contains those of each publisher in the order in which it published
 * them; each comes once. If messages are missing, or may be, {@link #onGap} comes before the next one.
 *
 * <p><b>Threads.</b> Calls run on the threads of the manager, where they must not block. A subscriber that needs time
 * {@linkplain Subscription#pause pauses}.
 */
@FunctionalInterface
public interface Subscriber {
    /**
     * Called with each message.
     *
     * @param message may be kept
     * @throws Exception is logged; the next message follows
     */
    void onMessage(Message message) throws Exception;

    /**
     * Called when messages are missing, or may be.
     *
     * @param gap from where to where
     * @throws Exception is logged
     */
    default void onGap(Gap gap) throws Exception {}

    /**
     * Called when somebody has entered the topic, on whatever node. Who was there before is told by {@link
     * Topic#members}.
     *
     * @param member who
     * @throws Exception is logged
     */
    default void onEntered(Member member) throws Exception {}

    /**
     * Called when somebody has left the topic, or its node has ended or not been heard of for {@link
     * Backplane.Builder#timeout}.
     *
     * @param member who
     * @throws Exception is logged
     */
    default void onLeft(Member member) throws Exception {}
}
