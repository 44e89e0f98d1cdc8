/** Needs to name what it uses, and no annotations. */
module app {
    requires io.millrace.server;
    requires io.millrace.task;
}
