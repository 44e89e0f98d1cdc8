/* What the C programs of this folder share: options, errors, the clock, the limit on open files. */
#ifndef MILLRACE_BENCH_COMMON_H
#define MILLRACE_BENCH_COMMON_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Ends the program: 1 if the other side is at fault, 2 if the caller or the machine is. */
__attribute__((noreturn, format(printf, 2, 3))) static inline void die(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(status);
}

/* One "--name VALUE" of the command line; exactly one of number and text is set. The last entry has no name. */
struct option {
  const char *name;
  long long *number;
  const char **text;
};

static inline void parse_options(int argc, char **argv, const struct option *options, const char *usage) {
  for (int i = 1; i < argc; i += 2) {
    const struct option *o = options;
    while (o->name != NULL && strcmp(o->name, argv[i]) != 0) o++;
    if (o->name == NULL) die(2, "unknown option: %s\n%s", argv[i], usage);
    if (i + 1 == argc) die(2, "%s needs a value\n%s", argv[i], usage);
    if (o->text != NULL) {
      *o->text = argv[i + 1];
      continue;
    }
    char *end;
    errno = 0;
    *o->number = strtoll(argv[i + 1], &end, 10);
    if (errno != 0 || end == argv[i + 1] || *end != '\0' || *o->number < 0)
      die(2, "%s needs a whole number, not %s\n%s", argv[i], argv[i + 1], usage);
  }
}

static inline int64_t now_nanos(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Raises the limit on open files as far as it goes, and returns it. */
static inline long long raise_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) die(2, "getrlimit: %s", strerror(errno));
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) die(2, "setrlimit: %s", strerror(errno));
  return (long long)limit.rlim_cur;
}

#endif
