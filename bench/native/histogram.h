/*
 * A log-linear histogram of times in nanoseconds, after HdrHistogram: 3 significant digits, fixed memory.
 *
 * Values below 2,048 have a bucket each. Above, each power of two is cut into 1,024 buckets, so a bucket is at most
 * 1/1,024 of its value wide. A percentile is the upper end of its bucket, as in HdrHistogram: never too low.
 */
#ifndef MILLRACE_BENCH_HISTOGRAM_H
#define MILLRACE_BENCH_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

enum { SUB_BUCKETS = 1024, LARGEST_SHIFT = 30, BUCKETS = (LARGEST_SHIFT + 2) * SUB_BUCKETS };

struct histogram {
  uint64_t count, max;
  uint64_t buckets[BUCKETS];
};

static inline void histogram_reset(struct histogram *h) {
  memset(h, 0, sizeof *h);
}

static inline void histogram_record(struct histogram *h, int64_t nanos) {
  uint64_t value = nanos < 0 ? 0 : (uint64_t)nanos;
  if (value > h->max) h->max = value;
  int shift = value < 2 * SUB_BUCKETS ? 0 : 53 - __builtin_clzll(value);
  if (shift > LARGEST_SHIFT) { /* above 36 minutes: only max tells */
    shift = LARGEST_SHIFT;
    value = (UINT64_C(2) * SUB_BUCKETS << shift) - 1;
  }
  h->buckets[shift * SUB_BUCKETS + (int)(value >> shift)]++;
  h->count++;
}

/* In nanoseconds: the value that this percentage of the recorded ones does not exceed, 0 if none was recorded. */
static inline uint64_t histogram_percentile(const struct histogram *h, double percent) {
  uint64_t wanted = (uint64_t)(percent / 100 * (double)h->count + 0.5), seen = 0;
  if (wanted == 0) wanted = 1;
  for (int i = 0; i < BUCKETS; i++) {
    seen += h->buckets[i];
    if (seen < wanted) continue;
    int shift = i < 2 * SUB_BUCKETS ? 0 : i / SUB_BUCKETS - 1;
    uint64_t top = ((uint64_t)(i - shift * SUB_BUCKETS + 1) << shift) - 1;
    return top < h->max ? top : h->max;
  }
  return 0;
}

#endif
