package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Message;
import io.millrace.backplane.Position;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import io.millrace.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the engine does while a subscription reads what it has missed, made to happen every time. */
@DisplayName("A subscription that catches up with its topic")
class SubscriptionCatchesUpTest {
    private final String name = UUID.randomUUID().toString();
    private final List<String> first = new CopyOnWriteArrayList<>();
    private final List<String> second = new CopyOnWriteArrayList<>();
    private Reactors reactors;
    private Backplane backplane;
    private HeldProvider.Held engine;
    private Topic topic;
    /** Where the log was before the first message. */
    private Position beginning;

    @BeforeEach
    void oneMessageIsThere() throws Exception {
        reactors = Reactors.builder().reactors(1).withoutWatchdog().open();
        backplane = Backplane.open("held:" + name, reactors);
        engine = HeldProvider.inUse(name);
        topic = backplane.topic("room");
        topic.subscribeFromLast(1, message -> first.add(text(message)));
        Position one = publish("1");
        beginning = new Position(one.epoch(), one.offset() - 1);
        Await.until("the first one has it", () -> first.equals(List.of("1")));
    }

    @AfterEach
    void close() {
        backplane.close();
        reactors.close();
    }

    private Position publish(String text) throws Exception {
        return topic.publish(text).get(10, TimeUnit.SECONDS);
    }

    private static String text(Message message) {
        return StandardCharsets.UTF_8.decode(message.data()).toString();
    }

    private void assertAllOnceInOrder() {
        Await.until("both are at the end", () -> first.contains("4") && second.contains("4"));
        assertThat(second).containsExactly("1", "2", "3", "4");
        assertThat(first).containsExactly("1", "2", "3", "4");
    }

    @Test
    @DisplayName("bp-3: one that has read further than the topic was told does not get the same again")
    void readsFurtherThanWasTold() throws Exception {
        engine.holdPushes();
        publish("2");
        publish("3");
        topic.subscribeAfter(beginning, message -> second.add(text(message)));
        Await.until("it has read all", () -> second.size() == 3);

        engine.releasePushes();
        publish("4");

        assertAllOnceInOrder();
    }

    @Test
    @DisplayName("bp-3: one whose page was read before more came reads on, and misses nothing")
    void moreComesWhileItReads() throws Exception {
        engine.holdAnswers();
        topic.subscribeAfter(beginning, message -> second.add(text(message)));
        Await.until("it has asked", () -> engine.heldAnswers() == 1);
        publish("2");
        publish("3");
        Await.until("the first one has them", () -> first.size() == 3);

        engine.releaseAnswers();
        Await.until("it has read what it missed", () -> second.contains("1"));
        publish("4");

        assertAllOnceInOrder();
    }
}
