package io.millrace.cli.http;

import org.jspecify.annotations.Nullable;

/** Whether a client has the file already, or wants another one than there is: RFC 9110, section 13.2.2. */
final class Preconditions {
    private Preconditions() {}

    /**
     * Decides in the order of the RFC.
     *
     * @return {@link Status#OK}, {@link Status#NOT_MODIFIED} or {@link Status#PRECONDITION_FAILED}
     */
    static Status check(Request request, String tag, long modifiedSecond) {
        String match = request.value("if-match");
        if (match != null) {
            if (!lists(match, tag, false)) {
                return Status.PRECONDITION_FAILED;
            }
        } else {
            Long unmodified = date(request.value("if-unmodified-since"));
            if (unmodified != null && modifiedSecond > unmodified) {
                return Status.PRECONDITION_FAILED;
            }
        }
        String noneMatch = request.value("if-none-match");
        if (noneMatch != null) {
            return lists(noneMatch, tag, true) ? Status.NOT_MODIFIED : Status.OK;
        }
        Long modified = date(request.value("if-modified-since"));
        return modified != null && modifiedSecond <= modified ? Status.NOT_MODIFIED : Status.OK;
    }

    /** Returns whether a part may be sent: the client's other parts are of the same file. */
    static boolean allowsRange(Request request, String tag, long modifiedSecond) {
        String condition = request.value("if-range");
        if (condition == null) {
            return true;
        }
        if (condition.startsWith("\"") || condition.startsWith("W/")) {
            return condition.equals(tag); // a weak tag never equals ours, which are strong
        }
        Long date = date(condition);
        return date != null && date == modifiedSecond;
    }

    private static @Nullable Long date(@Nullable String field) {
        return field == null ? null : HttpDates.parse(field);
    }

    private static boolean lists(String field, String tag, boolean weakly) {
        if (field.equals("*")) {
            return true;
        }
        for (String each : field.split(",", -1)) {
            String one = each.strip();
            if (one.equals(tag)
                    || (weakly && one.startsWith("W/") && one.substring(2).equals(tag))) {
                return true;
            }
        }
        return false;
    }
}
