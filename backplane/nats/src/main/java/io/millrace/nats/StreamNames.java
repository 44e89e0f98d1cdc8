package io.millrace.nats;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names of streams, which are names of files and tokens of subjects, too: a topic whose name has only letters, digits, -
 * and _ keeps it, and any other one is called by its digest. So is one that contains what stands between a namespace and
 * a topic: otherwise "a" and "b-topic-c" would be "a-topic-b" and "c".
 */
final class StreamNames {
    private StreamNames() {}

    static String of(String namespace, String topic) {
        return topic.matches("[A-Za-z0-9_-]{1,100}") && !("-" + topic).matches(".*-(topic|digest)-.*")
                ? namespace + "-topic-" + topic
                : namespace + "-digest-" + digest(topic);
    }

    private static String digest(String topic) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha.digest(topic.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
