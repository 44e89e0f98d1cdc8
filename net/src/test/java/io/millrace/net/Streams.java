package io.millrace.net;

import io.millrace.poll.Interest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.provider.Arguments;

/** The two kinds of stream, for the tests of what they have in common. */
enum Streams {
    TCP,
    UNIX;

    record Ends(ByteStream client, ByteStream server) {}

    Ends open(Rig rig) throws IOException {
        if (this == TCP) {
            Rig.Ends ends = rig.connection();
            return new Ends(ends.client(), ends.server());
        }
        Path directory = Files.createTempDirectory("millrace");
        try (UnixListener listener = rig.net.listen(UnixAddress.of(directory.resolve("socket")))) {
            UnixStream client = rig.keep(rig.net.connect(listener.address()));
            return new Ends(client, accept(rig, listener));
        } finally {
            Files.delete(directory);
        }
    }

    static UnixStream accept(Rig rig, UnixListener listener) throws IOException {
        for (; ; ) {
            UnixStream stream = listener.accept();
            if (stream != null) {
                return rig.keep(stream);
            }
            rig.await(listener, Interest.READABLE);
        }
    }

    /** Each kind on each backend. */
    static List<Arguments> onEveryBackend() {
        List<Arguments> all = new ArrayList<>();
        for (Rig.Backend backend : Rig.Backend.values()) {
            for (Streams kind : values()) {
                all.add(Arguments.of(backend, kind));
            }
        }
        return all;
    }
}
