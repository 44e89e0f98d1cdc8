package io.millrace.cli;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code --name value} or {@code --name=value}, of a known set of names. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(List<String> words, Set<String> known) throws UsageException {
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (!known.contains(name)) {
                throw new UsageException("unknown argument " + word + "; try millrace --help");
            }
            if (equals >= 0) {
                values.put(name, word.substring(equals + 1));
            } else if (i + 1 < words.size()) {
                values.put(name, words.get(++i));
            } else {
                throw new UsageException(name + " needs a value; try millrace --help");
            }
        }
    }

    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    @Nullable
    String text(String name) {
        return values.get(name);
    }

    int port(String name, int otherwise) throws UsageException {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            int port = Integer.parseInt(value);
            if (port >= 0 && port <= 65_535) {
                return port;
            }
        } catch (NumberFormatException e) {
            throw new UsageException(name + " must be a port from 0 to 65535, not " + value);
        }
        throw new UsageException(name + " must be a port from 0 to 65535, not " + value);
    }
}
