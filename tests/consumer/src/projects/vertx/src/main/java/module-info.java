/** Vert.x's modules come with the bridge. */
module app {
    requires io.millrace.vertx;
}
