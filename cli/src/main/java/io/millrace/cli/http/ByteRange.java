package io.millrace.cli.http;

import org.jspecify.annotations.Nullable;

/**
 * A part of a file: RFC 9110, section 14.
 *
 * @param from the first byte
 * @param count how many bytes
 */
record ByteRange(long from, long count) {
    /**
     * Reads the field {@code Range}.
     *
     * @return null if the whole is to be sent: there is no such field, it is malformed, or it asks for several parts,
     *     which a server may answer with the whole
     * @throws HttpException if the part is not there
     */
    static @Nullable ByteRange parse(@Nullable String field, long size) throws HttpException {
        if (field == null || !field.regionMatches(true, 0, "bytes=", 0, 6)) {
            return null;
        }
        String range = field.substring(6).strip();
        int dash = range.indexOf('-');
        if (dash < 0 || range.indexOf(',') >= 0) {
            return null;
        }
        String first = range.substring(0, dash);
        String last = range.substring(dash + 1);
        if (!isNumber(first) || !isNumber(last) || (first.isEmpty() && last.isEmpty())) {
            return null;
        }
        long from;
        long to = size - 1;
        if (first.isEmpty()) {
            from = Math.max(0, size - number(last));
        } else {
            from = number(first);
            if (!last.isEmpty()) {
                if (number(last) < from) {
                    return null;
                }
                to = Math.min(to, number(last));
            }
        }
        if (from >= size) {
            throw new HttpException(Status.RANGE_NOT_SATISFIABLE, "the file has " + size + " bytes");
        }
        return new ByteRange(from, to - from + 1);
    }

    private static boolean isNumber(String text) {
        return text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** A number that is too large is as good as the largest. */
    private static long number(String digits) {
        String significant = digits.replaceFirst("^0+(?=.)", "");
        return significant.length() > 18 ? Long.MAX_VALUE : Long.parseLong(significant);
    }
}
