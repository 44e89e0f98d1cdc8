package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Netty's leak detector at its strictest; what it finds fails the test. */
final class Leaks {
    private static final List<String> FOUND = new CopyOnWriteArrayList<>();

    static {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // the only one to implement
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                    Class<T> resource, int samplingInterval, long maxActive) {
                return new Reporting<>(resource, samplingInterval);
            }
        });
    }

    private Leaks() {}

    /** To be called before the first buffer is allocated. */
    static void watch() {
        FOUND.clear();
    }

    static void assertNone() {
        for (int i = 0; i < 2; i++) {
            System.gc();
            // The detector looks when a buffer is allocated.
            io.netty.buffer.PooledByteBufAllocator.DEFAULT.directBuffer().release();
            io.netty.buffer.ByteBufAllocator.DEFAULT.directBuffer().release();
        }
        assertThat(FOUND).isEmpty();
    }

    private static final class Reporting<T> extends ResourceLeakDetector<T> {
        Reporting(Class<T> resource, int samplingInterval) {
            super(resource, samplingInterval);
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String type, String records) {
            FOUND.add(type + records);
        }

        @Override
        protected void reportUntracedLeak(String type) {
            FOUND.add(type);
        }
    }
}
