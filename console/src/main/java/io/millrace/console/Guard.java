package io.millrace.console;

import com.sun.net.httpserver.Headers;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are answered.
 *
 * <ul>
 *   <li><b>Host.</b> A page of another site may have its name resolve to this machine (DNS rebinding). Its requests then
 *       carry that name, so only the names and addresses of the console itself are accepted.
 *   <li><b>Token.</b> A secret of 128 bits that is made at the start. It travels in a header, which another site's page
 *       cannot set without being asked about by the browser first, and which is never sent by itself as a cookie is.
 *   <li><b>Origin.</b> A request that changes something must also come from the console's own page, if a browser sends
 *       it.
 * </ul>
 */
final class Guard {
    static final String HEADER = "X-Millrace-Token";

    private final String token;
    private final Set<String> hosts = new TreeSet<>();

    Guard(@Nullable String token, InetAddress bound, String hostName, int port) {
        this.token = token == null ? newToken() : token;
        addHost("localhost", port);
        addHost("127.0.0.1", port);
        addHost("[::1]", port);
        addHost(hostName, port);
        addHost(inUrl(bound), port);
    }

    private static String newToken() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private void addHost(String host, int port) {
        hosts.add((host + ":" + port).toLowerCase(Locale.ROOT));
        if (port == 80) {
            hosts.add(host.toLowerCase(Locale.ROOT));
        }
    }

    /** Returns an address as it stands in a URL. */
    static String inUrl(InetAddress address) {
        String text = address.getHostAddress();
        return text.indexOf(':') < 0 ? text : "[" + text + "]";
    }

    String token() {
        return token;
    }

    /** Returns whether the request was meant for us. */
    boolean isOurHost(Headers headers) {
        String host = headers.getFirst("Host");
        return host != null && hosts.contains(host.toLowerCase(Locale.ROOT));
    }

    /** Returns whether the request has the token: in our header, or as a bearer's, for programs that know only that. */
    boolean hasToken(Headers headers) {
        String given = headers.getFirst(HEADER);
        if (given == null) {
            String authorization = headers.getFirst("Authorization");
            given = authorization != null && authorization.startsWith("Bearer ")
                    ? authorization.substring("Bearer ".length())
                    : "";
        }
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns whether a request may change something: what a browser says about its page does not speak against it. */
    boolean isOurPage(Headers headers) {
        String origin = headers.getFirst("Origin");
        if (origin != null) {
            String lower = origin.toLowerCase(Locale.ROOT);
            if (!lower.startsWith("http://") || !hosts.contains(lower.substring("http://".length()))) {
                return false;
            }
        }
        String site = headers.getFirst("Sec-Fetch-Site");
        return site == null || site.equals("same-origin") || site.equals("none");
    }
}
