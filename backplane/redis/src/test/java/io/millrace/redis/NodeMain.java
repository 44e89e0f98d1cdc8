package io.millrace.redis;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** A node that publishes until it is killed, and prints what becomes of each message. */
final class NodeMain {
    private NodeMain() {}

    public static void main(String[] args) throws InterruptedException {
        Semaphore free = new Semaphore(16);
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                Backplane backplane = Backplane.builder(args[0], reactors)
                        .timeout(Duration.ofMillis(Long.parseLong(args[2])))
                        .open()) {
            Topic topic = backplane.topic("room");
            topic.enter(args[1]);
            for (int i = 0; ; i++) {
                free.acquire();
                String message = args[1] + "/" + i;
                System.out.println("sent " + message);
                topic.publish(message).whenComplete((position, failure) -> {
                    System.out.println(
                            failure == null ? "acknowledged " + message + " " + position : "failed " + message);
                    free.release();
                });
            }
        }
    }
}
