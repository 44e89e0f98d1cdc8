package io.millrace.examples;

import io.millrace.task.Failed;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Item;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Results as they complete: the program of docs/futures.md. */
public final class AsTheyComplete {
    private record Page(String url, int length) {}

    private AsTheyComplete() {}

    /**
     * Fetches pages that do not exist, from a client that makes them up.
     *
     * @param urls what to fetch
     */
    public static void main(String... urls) {
        Client client = new Client();
        try (var downloads = FuturesUnordered.<Page>create()) {
            List.of(urls).forEach(url -> downloads.add(client.fetch(url))); // or a Callable, or a Pollable
            for (var outcome : downloads) { // as they complete; parks
                switch (outcome) {
                    case Item(Page page) -> System.out.println(page.url() + ": " + page.length() + " letters");
                    case Failed<Page> failed ->
                        System.out.println("failed: " + failed.cause().getMessage());
                }
            }
        }
    }

    private static final class Client {
        CompletionStage<Page> fetch(String url) {
            return CompletableFuture.supplyAsync(() -> {
                if (!url.startsWith("http")) {
                    throw new IllegalArgumentException("not a page: " + url);
                }
                return new Page(url, url.length());
            });
        }
    }
}
