package io.millrace.bench.peers;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The {@code --name VALUE} pairs of a command line. Ends the program with status 2 if they are wrong. */
final class Options {
    private final Map<String, String> values = new HashMap<>();
    private final String usage;

    Options(String[] arguments, String usage, String... names) {
        this.usage = usage;
        Set<String> known = Set.of(names);
        for (int i = 0; i < arguments.length; i += 2) {
            if (!known.contains(arguments[i])) {
                throw refuse("unknown option: " + arguments[i]);
            }
            if (i + 1 == arguments.length) {
                throw refuse(arguments[i] + " needs a value");
            }
            values.put(arguments[i], arguments[i + 1]);
        }
    }

    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    long number(String name, long otherwise, long least, long most) {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw refuse(name + " needs a whole number from " + least + " to " + most + ", not " + value);
    }

    /** Never returns; the type is for {@code throw}, so that the compiler knows. */
    AssertionError refuse(String why) {
        System.err.println(why + System.lineSeparator() + usage);
        System.exit(2);
        return new AssertionError("exited");
    }
}
