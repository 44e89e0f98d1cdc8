package io.millrace.console;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are answered.
 *
 * <ul>
 *   <li><b>Host.</b> A page of another site may have its name resolve to this machine (DNS rebinding). Its requests then
 *       carry that name. So only {@code localhost}, the name that the console was told to listen on, and IP addresses are
 *       accepted: no name can be made to look like one. The port does not matter, so a tunnel may have any.
 *   <li><b>Token.</b> A secret of 128 bits that is made at the start. It travels in a header, which another site's page
 *       cannot set without being asked about by the browser first, and which is never sent by itself as a cookie is.
 *   <li><b>Origin.</b> A request that changes something must also come from the console's own page, if a browser sends
 *       it.
 * </ul>
 */
final class Guard {
    static final String HEADER = "X-Millrace-Token";

    private static final Pattern PORT = Pattern.compile(":\\d{1,5}$");
    /** An IPv4 or IPv6 address as it stands in a URL. */
    private static final Pattern IP = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[\\p{XDigit}:.]+(%[\\w.-]+)?]");

    private final String token;
    private final String name;

    /** @param name what the console was told to listen on */
    Guard(@Nullable String token, String name) {
        this.token = token == null ? newToken() : token;
        this.name = name.toLowerCase(Locale.ROOT);
    }

    private static String newToken() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String token() {
        return token;
    }

    /** Returns whether the request was meant for us. */
    boolean isOurHost(Headers headers) {
        List<String> hosts = headers.get("Host");
        if (hosts == null || hosts.size() != 1) {
            return false;
        }
        String host = hosts.getFirst();
        String called = PORT.matcher(host).replaceFirst("").toLowerCase(Locale.ROOT);
        return called.equals("localhost")
                || called.equals(name)
                || IP.matcher(called).matches();
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
        if (origin != null && !origin.equalsIgnoreCase("http://" + headers.getFirst("Host"))) {
            return false;
        }
        String site = headers.getFirst("Sec-Fetch-Site");
        return site == null || site.equals("same-origin") || site.equals("none");
    }
}
