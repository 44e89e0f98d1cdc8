package io.millrace.cli.http;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Points in time as HTTP writes them: RFC 9110, section 5.6.7. */
final class HttpDates {
    private static final DateTimeFormatter FIXED =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

    /** What must be understood, too: that of RFC 850, and that of asctime. */
    private static final List<DateTimeFormatter> READ = List.of(
            FIXED,
            new DateTimeFormatterBuilder()
                    .appendPattern("EEEE, dd-MMM-")
                    .appendValueReduced(ChronoField.YEAR, 2, 2, 1970)
                    .appendPattern(" HH:mm:ss 'GMT'")
                    .toFormatter(Locale.US),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US));

    private static final int LONGEST = "Wednesday, 02-Jan-26 03:04:05 GMT".length();

    /** The present one, of which there is a new one each second. */
    private record Second(long epoch, String text) {}

    private static volatile Second present = new Second(Long.MIN_VALUE, "");

    private HttpDates() {}

    static String now() {
        long second = System.currentTimeMillis() / 1000;
        Second last = present;
        if (last.epoch != second) {
            last = new Second(second, format(second));
            present = last;
        }
        return last.text;
    }

    static String format(long epochSecond) {
        return FIXED.format(LocalDateTime.ofInstant(Instant.ofEpochSecond(epochSecond), ZoneOffset.UTC));
    }

    /** Returns the second since 1970; null for what is no date, which is ignored. */
    static @Nullable Long parse(String text) {
        if (text.length() > LONGEST) {
            return null; // at once: each format would say at length why it is none
        }
        for (DateTimeFormatter format : READ) {
            try {
                return LocalDateTime.parse(text, format).toEpochSecond(ZoneOffset.UTC);
            } catch (DateTimeException e) {
                // The next format.
            }
        }
        return null;
    }
}
