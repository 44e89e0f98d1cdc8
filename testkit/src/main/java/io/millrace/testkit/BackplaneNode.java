package io.millrace.testkit;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Message;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Position;
import io.millrace.backplane.Subscriber;
import io.millrace.backplane.Subscription;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node in a process of its own: publishes to the topic {@code room} and subscribes to it, and prints a line for
 * everything that happens. {@code stop} on its input ends the publishing, {@code end NAME} publishes one message more,
 * and the end of its input is its own.
 */
public final class BackplaneNode {
    private static final int ON_THEIR_WAY = 16;

    private BackplaneNode() {}

    /**
     * Runs it.
     *
     * @param arguments the URL of the engine, the name of the publisher, the length of the history
     * @throws Exception if it fails
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[1];
        Semaphore free = new Semaphore(ON_THEIR_WAY);
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                Backplane backplane = Backplane.builder(arguments[0], reactors)
                        .history(Integer.parseInt(arguments[2]))
                        .onState(state -> System.out.println("state " + state))
                        .open()) {
            Topic topic = backplane.topic("room");
            Subscription subscription = topic.subscribe(new Printing());
            Await.until("it has begun", () -> subscription.position() != null);
            System.out.println("started " + subscription.position());
            Thread publisher = new Thread(() -> publish(topic, name, free));
            publisher.start();
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("stop")) {
                    publisher.interrupt();
                    publisher.join();
                    free.acquire(ON_THEIR_WAY);
                    System.out.println("stopped");
                } else if (line.startsWith("end ")) {
                    publish(topic, line.substring("end ".length()), 0, () -> {});
                }
            }
        } catch (IOException e) {
            System.out.println("failed " + e);
        }
    }

    private static void publish(Topic topic, String name, Semaphore free) {
        try {
            for (int i = 0; ; i++) {
                free.acquire();
                publish(topic, name, i, free::release);
                TimeUnit.MILLISECONDS.sleep(1); // a load that two of these and a slow link can bear
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it was told to stop
        }
    }

    private static void publish(Topic topic, String name, int number, Runnable then) {
        String message = name + "/" + number;
        System.out.println("sent " + message);
        var ignored = topic.publish(message).whenComplete((position, failure) -> {
            System.out.println(outcome(failure) + " " + message + " " + position);
            then.run();
        });
    }

    private static DeliveryHistory.Outcome outcome(@Nullable Throwable failure) {
        if (failure == null) {
            return DeliveryHistory.Outcome.ACKNOWLEDGED;
        }
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof NotPublishedException refused
                        && refused.reason() != NotPublishedException.Reason.UNKNOWN
                ? DeliveryHistory.Outcome.REFUSED
                : DeliveryHistory.Outcome.UNKNOWN;
    }

    private static final class Printing implements Subscriber {
        @Override
        public void onMessage(Message message) {
            Position position = message.position();
            System.out.println("got " + StandardCharsets.UTF_8.decode(message.data()) + " " + position);
        }

        @Override
        public void onGap(Gap gap) {
            System.out.println("gap " + gap.after() + " " + gap.next());
        }
    }
}
