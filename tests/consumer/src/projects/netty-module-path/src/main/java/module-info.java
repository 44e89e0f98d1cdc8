/** Needs to name what it uses; Netty's modules come with the bridge. */
module app {
    requires io.millrace.netty;
}
