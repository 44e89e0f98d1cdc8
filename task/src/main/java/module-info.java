import org.jspecify.annotations.NullMarked;

/**
 * Fair sets of futures and streams: {@link io.millrace.task.FuturesUnordered} and its siblings.
 *
 * <p>Results as they complete:
 *
 * {@snippet :
 * try (var downloads = FuturesUnordered.<Page>create()) {
 *     List.of(urls).forEach(url -> downloads.add(client.fetch(url))); // or a Callable, or a Pollable
 *     for (var outcome : downloads) { // as they complete; parks
 *         switch (outcome) {
 *             case Item(Page page) -> System.out.println(page.url() + ": " + page.length() + " letters");
 *             case Failed<Page> failed ->
 *                 System.out.println("failed: " + failed.cause().getMessage());
 *         }
 *     }
 * }
 * }
 */
@NullMarked
module io.millrace.task {
    requires transitive io.millrace.poll;
    requires static transitive org.jspecify;

    exports io.millrace.task;
}
