package io.millrace.task;

/** Text for things that may have none of their own but an address, which nobody can find again. */
final class Names {
    private Names() {}

    /** Its own text; of an address the kind of thing that lives there. */
    static String of(Object thing) {
        String text = String.valueOf(thing);
        Class<?> kind = thing.getClass();
        String address = kind.getName() + "@" + Integer.toHexString(System.identityHashCode(thing));
        if (!text.startsWith(address)) {
            return text;
        }
        return kind(kind) + text.substring(address.length());
    }

    private static String kind(Class<?> kind) {
        String name = kind.getName().substring(kind.getName().lastIndexOf('.') + 1);
        if (kind.isHidden()) {
            // io.app.Main$$Lambda/0x00007f3c: the number is an address, too. The package is before the last dot
            // already.
            return "a lambda of " + name.replaceAll("\\$\\$.*|/.*", "");
        }
        return name;
    }
}
