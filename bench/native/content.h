/*
 * What the connections send: all of them from one table of random bytes that repeats after a prime number of them. Each
 * begins elsewhere and goes on where it left off. So a byte lost, doubled, changed or given to another one is noticed,
 * and neither sending nor checking copies anything.
 */
#ifndef MILLRACE_BENCH_CONTENT_H
#define MILLRACE_BENCH_CONTENT_H

#include <stdint.h>

enum { PERIOD = 1048573, LARGEST_PIECE = 1 << 20, APART = 7919 };

static char content_table[PERIOD + LARGEST_PIECE];

static inline void content_fill(void) {
  uint64_t state = 42; /* SplitMix64 */
  for (int i = 0; i < PERIOD; i++) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    content_table[i] = (char)((z ^ (z >> 27)) >> 56);
  }
  for (int i = PERIOD; i < PERIOD + LARGEST_PIECE; i++) content_table[i] = content_table[i - PERIOD];
}

/* LARGEST_PIECE bytes of the stream of a connection, from the given offset on. */
static inline const char *content_at(long long connection, uint64_t offset) {
  return content_table + (offset + (uint64_t)connection * APART) % PERIOD;
}

#endif
