package io.millrace.net.family;

import io.millrace.poll.SourceHandle;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reports changes of files: inotify, or the JDK's watch service. */
public interface WatchCalls {
    SourceHandle handle();

    /** Watches a path, replacing what is watched under the same path. */
    void watch(WatchedPath watched) throws IOException;

    boolean unwatch(Path path);

    @Nullable
    FileChange poll() throws IOException;

    void close();
}
