/** All modules as one, for Error Prone's look at them. Never built into anything. */
module io.millrace.gates {
    requires java.logging;
    requires jdk.httpserver;
    requires jdk.jfr;
    requires jdk.management;
    requires jdk.net;
    requires jdk.unsupported;
}
