package io.millrace.poll;

import io.millrace.sys.Bits;

/**
 * The terms of a registration. Their identity matters, too: every reregister creates a new object, which is how a
 * one-shot that was reported becomes active again.
 *
 * @param token the user's token
 * @param interest as {@link Bits}
 * @param trigger as {@link Bits}
 */
record RegistrationTerms(long token, int interest, int trigger) {
    static RegistrationTerms of(long token, Interest interest, Trigger trigger) {
        return new RegistrationTerms(token, interest.bits(), trigger.code());
    }

    @Override
    public String toString() {
        return "token " + token + ", interest " + Readiness.names(interest) + ", "
                + (trigger == Bits.LEVEL ? "level" : trigger == Bits.EDGE ? "edge" : "one-shot");
    }

    int visible(int readiness) {
        return Bits.visible(readiness, interest);
    }
}
