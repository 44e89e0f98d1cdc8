package io.millrace.testkit;

import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;

/**
 * A source as a user would write one: a mailbox with room for one letter, readable while there is one and writable
 * while there is none.
 */
public final class UserSource implements Source, AutoCloseable {
    private final Registration registration = new Registration();
    private String letter = "";

    /** Creates an empty mailbox. */
    public UserSource() {
        registration.setReadiness(Readiness.WRITABLE);
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    /**
     * Puts a letter in, replacing one that may be there.
     *
     * @param text not empty
     */
    public synchronized void put(String text) {
        letter = text;
        registration.replaceReadiness(Readiness.READABLE);
    }

    /**
     * Takes the letter out.
     *
     * @return the letter, or "" if there is none
     */
    public synchronized String take() {
        String taken = letter;
        letter = "";
        registration.replaceReadiness(Readiness.WRITABLE);
        return taken;
    }

    @Override
    public void close() {
        registration.close();
    }
}
