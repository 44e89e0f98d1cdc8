package io.millrace.testkit;

/** The kinds of things that user code throws at a boundary (end-1). */
public enum Thrown {
    /** A checked exception that no signature allows, as thrown by Kotlin or with Lombok. */
    CHECKED {
        @Override
        Throwable make() {
            return new Exception("thrown by a test: checked");
        }
    },
    /** An unchecked exception, the usual case. */
    RUNTIME {
        @Override
        Throwable make() {
            return new IllegalStateException("thrown by a test: unchecked");
        }
    },
    /** An error. */
    ERROR {
        @Override
        Throwable make() {
            return new AssertionError("thrown by a test: an error");
        }
    },
    /** Neither an exception nor an error. */
    THROWABLE {
        @Override
        Throwable make() {
            return new Throwable("thrown by a test: a bare throwable");
        }
    },
    /** A real stack overflow. */
    STACK_OVERFLOW {
        @Override
        Throwable make() {
            try {
                return new IllegalStateException("depth " + deeper(1));
            } catch (StackOverflowError e) {
                return e;
            }
        }

        @Override
        public void raise() {
            deeper(1);
        }
    },
    /** An exception that cannot be printed. */
    UNPRINTABLE {
        @Override
        Throwable make() {
            return new Unprintable();
        }
    },
    /** An exception with a cause and a suppressed one that cannot be printed. */
    UNPRINTABLE_WITHIN {
        @Override
        Throwable make() {
            IllegalStateException outer = new IllegalStateException("thrown by a test: hollow");
            outer.addSuppressed(new Unprintable());
            return outer;
        }
    },
    /** An OutOfMemoryError. */
    OUT_OF_MEMORY {
        @Override
        Throwable make() {
            return new OutOfMemoryError("thrown by a test: no memory");
        }
    },
    /** An InterruptedException that was not caught. */
    INTERRUPTED {
        @Override
        Throwable make() {
            return new InterruptedException("thrown by a test: interrupted");
        }
    };

    private static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("thrown by the getMessage of a test");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("thrown by the toString of a test");
        }
    }

    abstract Throwable make();

    /** Throws one, without declaring it. */
    public void raise() {
        Thrown.<RuntimeException>sneak(make());
    }

    /**
     * Creates one.
     *
     * @return a new one
     */
    public Throwable get() {
        return make();
    }

    /**
     * Throws anything without declaring it.
     *
     * @param what what to throw
     * @param <E> the type that the compiler infers
     * @throws E never, as far as the compiler knows
     */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "DoNotCallSuggester"
    }) // the cast does nothing, which is the trick
    public static <E extends Throwable> void sneak(Throwable what) throws E {
        throw (E) what;
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    private static int deeper(int depth) {
        return deeper(depth + 1) + 1;
    }
}
