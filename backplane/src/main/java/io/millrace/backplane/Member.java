package io.millrace.backplane;

/**
 * Somebody who is present in a topic.
 *
 * @param node the node where it is
 * @param name its name there
 */
public record Member(String node, String name) implements Comparable<Member> {
    @Override
    public int compareTo(Member other) {
        int byName = name.compareTo(other.name);
        return byName != 0 ? byName : node.compareTo(other.node);
    }
}
