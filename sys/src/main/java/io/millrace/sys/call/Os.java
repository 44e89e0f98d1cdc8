package io.millrace.sys.call;

import java.util.Locale;

/** The operating systems whose struct layouts and constants differ for us. */
public enum Os {
    LINUX,
    MACOS,
    FREEBSD,
    OTHER;

    private static final Os CURRENT = parse(System.getProperty("os.name", ""));
    private static final boolean X86_64 = isX8664(System.getProperty("os.arch", ""));

    public static Os current() {
        return CURRENT;
    }

    /** Returns whether it is BSD-like: a sockaddr begins with its length, and {@code errno} has BSD numbers. */
    public boolean isBsd() {
        return this == MACOS || this == FREEBSD;
    }

    public static boolean x8664() {
        return X86_64;
    }

    private static Os parse(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.startsWith("linux")) {
            return LINUX;
        }
        if (lower.startsWith("mac")) {
            return MACOS;
        }
        return lower.startsWith("freebsd") ? FREEBSD : OTHER;
    }

    private static boolean isX8664(String arch) {
        return arch.equals("amd64") || arch.equals("x86_64");
    }
}
