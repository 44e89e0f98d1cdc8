import org.jspecify.annotations.NullMarked;

/** Fair sets of futures and streams: {@link io.millrace.task.FuturesUnordered} and its siblings. */
@NullMarked
module io.millrace.task {
    requires transitive io.millrace.poll;
    requires static transitive org.jspecify;

    exports io.millrace.task;
}
