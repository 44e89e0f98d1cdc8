package io.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Links lead somewhere. Those to other machines are not followed: a build must not depend on them. */
class LinksTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(<?([^)\\s>]+)>?(?:\\s+\"[^\"]*\")?\\)");
    private static final Pattern HTML_LINK = Pattern.compile("(?:href|src)\\s*=\\s*\"([^\"]+)\"");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?)\\s*$");
    private static final Pattern ANCHOR = Pattern.compile("<a (?:id|name)=\"([^\"]+)\"");
    private static final Pattern INLINE_CODE = Pattern.compile("`[^`\\n]*`");
    /** A page that a source, a script or a workflow speaks of. */
    private static final Pattern MENTION =
            Pattern.compile("(?<![\\w./-])((?:docs|examples|tests|bench)/[\\w./-]*\\w\\.md|[A-Z]{4,}\\.md)\\b");

    private final Map<Path, Set<String>> anchors = new HashMap<>();

    @Test
    @DisplayName("every link of a page leads to a file of the repository, and to a heading that is there")
    void linksOfPages() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : Pages.all()) {
            String prose = Pages.prose(page);
            for (Matcher link :
                    List.of(LINK.matcher(INLINE_CODE.matcher(prose).replaceAll("code")), HTML_LINK.matcher(prose))) {
                while (link.find()) {
                    links++;
                    check(page, link.group(1), broken);
                }
            }
        }
        assertThat(links).isGreaterThan(300);
        assertThat(broken).isEmpty();
    }

    @Test
    @DisplayName("every page that a source speaks of is there, and so is every file that Javadoc links to")
    void pagesInSources() throws IOException {
        List<String> broken = new ArrayList<>();
        int mentions = 0;
        for (Path source : Pages.files(name -> name.matches(".*\\.(java|xml|sh|yml|patch|js|mjs)|run|long"))) {
            String text = Pages.read(source);
            for (Matcher mention = MENTION.matcher(text); mention.find(); ) {
                mentions++;
                if (!isThere(Pages.ROOT.resolve(mention.group(1)))) {
                    broken.add(Pages.ROOT.relativize(source) + ": " + mention.group(1));
                }
            }
            if (source.toString().endsWith(".java") && source.toString().contains("/main/")) {
                for (Matcher link = HTML_LINK.matcher(text); link.find(); ) {
                    if (!link.group(1).matches("[\\w.-]*[{%\\\\$+#].*|https?:.*|/.*|data:.*")) {
                        check(source, link.group(1), broken);
                    }
                }
            }
        }
        assertThat(mentions).isGreaterThan(10);
        assertThat(broken).isEmpty();
    }

    private void check(Path page, String link, List<String> broken) throws IOException {
        if (link.matches("[a-z]+:.*")) {
            return;
        }
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty()
                ? page
                : page.resolveSibling(URLDecoder.decode(parts[0], StandardCharsets.UTF_8))
                        .normalize();
        if (!target.startsWith(Pages.ROOT) || !isThere(target)) {
            broken.add(Pages.ROOT.relativize(page) + ": " + link + " is not there");
        } else if (parts.length == 2
                && target.toString().endsWith(".md")
                && !anchors.computeIfAbsent(target, LinksTest::anchorsOf).contains(parts[1])) {
            broken.add(Pages.ROOT.relativize(page) + ": " + link + ": no such heading; there are "
                    + new TreeSet<>(anchors.get(target)));
        }
    }

    /** Also in the same case: some file systems do not care, the others do. */
    private static boolean isThere(Path file) throws IOException {
        return Files.exists(file)
                && file.toRealPath(java.nio.file.LinkOption.NOFOLLOW_LINKS)
                        .getFileName()
                        .equals(file.getFileName());
    }

    /** As GitHub and the site make them. */
    private static Set<String> anchorsOf(Path page) {
        Set<String> found = new HashSet<>();
        String prose = Pages.prose(page);
        for (Matcher heading = HEADING.matcher(prose); heading.find(); ) {
            String text = heading.group(1)
                    .replaceAll("\\[([^]]*)\\]\\([^)]*\\)", "$1")
                    .toLowerCase(Locale.ROOT);
            String slug = text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
            for (int i = 0; !found.add(i == 0 ? slug : slug + "-" + i); i++) {
                // the same heading again gets a number
            }
        }
        for (Matcher anchor = ANCHOR.matcher(prose); anchor.find(); ) {
            found.add(anchor.group(1));
        }
        return found;
    }
}
