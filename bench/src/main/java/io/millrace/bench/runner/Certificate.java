package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The certificate of all servers: EC, P-256, signed by itself.
 *
 * @param chain PEM
 * @param key PEM, PKCS#8
 * @param both in one file, as HAProxy wants it
 */
record Certificate(Path chain, Path key, Path both) {
    /** Makes one with openssl(1). */
    static Certificate make(Session session) throws IOException, InterruptedException {
        Path folder = session.log("certificate").getParent();
        Certificate made = new Certificate(
                folder.resolve("tls-cert.pem"), folder.resolve("tls-key.pem"), folder.resolve("tls-both.pem"));
        session.children()
                .run(
                        "openssl",
                        session.log("certificate"),
                        List.of(
                                "openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-days",
                                "30",
                                "-subj",
                                "/CN=localhost",
                                "-addext",
                                "subjectAltName=DNS:localhost,IP:127.0.0.1",
                                "-keyout",
                                made.key.toString(),
                                "-out",
                                made.chain.toString()));
        Files.writeString(made.both, Files.readString(made.chain) + Files.readString(made.key));
        return made;
    }
}
