package io.millrace.task;

/** Describes objects whose {@code toString} may be only an address, which is of no use in a message. */
final class Names {
    private Names() {}

    /** Returns the object's own text or, if that is only an address, what kind of object it is. */
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
            // io.app.Main$$Lambda/0x00007f3c: the number is an address, too. The package has already been removed.
            return "a lambda of " + name.replaceAll("\\$\\$.*|/.*", "");
        }
        return name;
    }
}
