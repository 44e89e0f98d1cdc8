package io.millrace.cli.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The requests in what a client sends, told apart by the test's own reading of RFC 9112: a head ends with an empty line.
 * One ends early where it can only be refused, at a line that ends without CR, and where it is too long.
 */
record Heads(List<String> all) {
    static Heads of(String sent) {
        List<String> heads = new ArrayList<>();
        int from = 0;
        int line = 0;
        while (line < sent.length()) {
            int end = sent.indexOf('\n', line) + 1;
            if (end == 0 || end - from > HttpHandler.MAX_HEAD) {
                if (sent.length() - from >= HttpHandler.MAX_HEAD) {
                    heads.add(sent.substring(from, from + HttpHandler.MAX_HEAD));
                }
                break; // the rest is no whole head, or comes after a refusal
            }
            String text = sent.substring(line, end);
            line = end;
            if (!text.endsWith("\r\n") || (text.equals("\r\n") && end - from > 2)) {
                heads.add(sent.substring(from, end));
                from = end;
            } else if (text.equals("\r\n")) {
                from = end; // an empty line before a request is skipped
            }
        }
        return new Heads(heads);
    }

    static boolean isHead(String head) {
        return head.startsWith("HEAD ");
    }

    /** Whether another server could find a body behind it, or lines where this one finds none. */
    static boolean isAmbiguous(String head) {
        String rest = head.replace("\r\n", "\n");
        if (!head.endsWith("\r\n") || rest.chars().anyMatch(c -> (c < ' ' && c != '\n' && c != '\t') || c == 0x7f)) {
            return true;
        }
        for (String line : rest.split("\n")) {
            String lower = line.toLowerCase(Locale.ROOT);
            boolean length = lower.matches("\\s*content-length\\s*:.*");
            if (line.startsWith(" ")
                    || line.startsWith("\t")
                    || lower.matches("[^:]*\\s:.*") && !line.equals(rest.split("\n")[0])
                    || lower.matches("\\s*transfer-encoding\\s*:.*")
                    || (length && !lower.matches("content-length:\\s*0+\\s*"))) {
                return true;
            }
        }
        return rest.split("(?i)\ncontent-length:", -1).length > 2 || rest.split("(?i)\nhost:", -1).length > 2;
    }
}
