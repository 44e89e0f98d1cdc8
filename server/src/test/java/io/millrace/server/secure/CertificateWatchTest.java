package io.millrace.server.secure;

import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A watch of certificates")
@Timeout(60)
class CertificateWatchTest {
    @TempDir
    Path directory;

    private Path chain;
    private Path key;

    private void copyTo(Path where) throws IOException {
        chain = Files.copy(TestKeys.SHARED.chain, where.resolve("chain.pem"));
        key = Files.copy(TestKeys.SHARED.key, where.resolve("key.pem"));
    }

    /** Writes what means the same, but differs. */
    private void change() throws IOException {
        Files.writeString(chain, "renewed\n" + Files.readString(chain));
    }

    private static void awaitReloads(CertificateWatch watch, int count) {
        await().atMost(20, TimeUnit.SECONDS).until(() -> watch.reloads() == count);
    }

    @Test
    @DisplayName("tls-6: the files are read when they are asked for, also if the system refuses to watch them any more")
    void readsWhatItCannotWatch() throws Exception {
        copyTo(directory);
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                CertificateWatch watch = CertificateWatch.start(Tls.server(chain, key), reactors)) {
            watch.watched().close();
            change();
            watch.reload();
            awaitReloads(watch, 1);
        }
    }

    @Test
    @DisplayName("tls-6: a path that leads through a link and up again is followed as the system follows it")
    void upFromALink() throws Exception {
        Path real = Files.createDirectories(directory.resolve("real/inner"));
        copyTo(real.getParent());
        Path link = Files.createSymbolicLink(directory.resolve("link"), real);
        Tls tls = Tls.server(link.resolve("../chain.pem"), link.resolve("./../key.pem"));
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                CertificateWatch watch = CertificateWatch.start(tls, reactors)) {
            change();
            awaitReloads(watch, 1); // perhaps by the look with which it starts
            change();
            awaitReloads(watch, 2);
        }
    }
}
