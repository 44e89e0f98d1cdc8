package io.millrace.poll;

import io.millrace.sys.Bits;

/**
 * What a source is registered as. The identity matters too: every reregister makes a new one, which is how a spent one-shot
 * comes to life again.
 *
 * @param token the user's
 * @param interest as {@link Bits}
 * @param trigger as {@link Bits}
 */
record RegistrationTerms(long token, int interest, int trigger) {
    static RegistrationTerms of(long token, Interest interest, Trigger trigger) {
        return new RegistrationTerms(token, interest.bits(), trigger.code());
    }

    int visible(int readiness) {
        return Bits.visible(readiness, interest);
    }
}
