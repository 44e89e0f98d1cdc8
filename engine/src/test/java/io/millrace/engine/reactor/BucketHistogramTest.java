package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Histogram;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Histograms of loops")
class BucketHistogramTest {
    private static BucketHistogram of(long... values) {
        long[] counts = new long[BucketHistogram.BUCKETS];
        for (long value : values) {
            counts[BucketHistogram.bucket(value)]++;
        }
        return new BucketHistogram(
                counts,
                Arrays.stream(values).max().orElse(0),
                Arrays.stream(values).sum());
    }

    @Test
    @DisplayName("obs-4: what was recorded since an earlier snapshot, to within an eighth")
    void since() {
        Histogram earlier = of(5, 1_000_000, 1_000_000_000);
        Histogram later = of(5, 1_000_000, 1_000_000_000, 7, 2_000_000, 2_000_000);
        Histogram added = later.since(earlier);
        assertThat(added.count()).isEqualTo(3);
        assertThat(added.sumNanos()).isEqualTo(4_000_007);
        assertThat(added.maxNanos()).isBetween(2_000_000L, 2_250_000L);
        assertThat(added.percentileNanos(1)).isEqualTo(7);
        assertThat(added.buckets()).extracting(Histogram.Bucket::count).containsExactly(1L, 2L);
        assertThat(later.since(later).count()).isZero();
        assertThat(later.since(later).maxNanos()).isZero();
        assertThat(earlier.since(later).count()).as("the wrong way round").isZero();
        assertThat(of(3, 4_000_000_000L).since(of(3)).maxNanos())
                .as("the maximum of all is exact")
                .isEqualTo(4_000_000_000L);
    }

    @Test
    @DisplayName("obs-4: only a loop's histogram can be compared")
    void othersAreRefused() {
        Histogram other = new Histogram() {
            @Override
            public long count() {
                return 0;
            }

            @Override
            public long maxNanos() {
                return 0;
            }

            @Override
            public long sumNanos() {
                return 0;
            }

            @Override
            public List<Bucket> buckets() {
                return List.of();
            }

            @Override
            public long percentileNanos(double percent) {
                return 0;
            }

            @Override
            public Histogram since(Histogram earlier) {
                return this;
            }
        };
        assertThatThrownBy(() -> of(1).since(other)).isInstanceOf(IllegalArgumentException.class);
    }
}
