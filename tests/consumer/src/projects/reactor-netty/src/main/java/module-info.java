/** Reactor's jars are automatic modules, and come with the bridge. */
module app {
    requires io.millrace.reactor.netty;
}
