import org.jspecify.annotations.NullMarked;

/** The program that people start: {@code ./millrace}. */
@NullMarked
module io.millrace.cli {
    requires io.millrace.net;
    requires io.millrace.poll;
    requires static org.jspecify;
}
