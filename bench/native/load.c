/*
 * The load generator: one thread, edge-triggered epoll, no library. Every byte that returns is compared.
 *
 * load --port P [--connections N] [--bytes B] [--depth D] [--seconds S] [--warmup W] [--pid SERVER]
 *      [--mode echo|stream|file] [--rate R] [--file PATH] [--file-bytes F] [--spin MICROS] [--connect-rate C] [--idle I]
 *   --connections N  1 by default; each is opened, sends one message and has it back before the load begins;
 *                    at most 256 are on that way at a time, and --connect-rate C opens at most C a second
 *   --bytes B        of a message, 64 by default; --depth D messages in flight a connection, 1 by default.
 *                    Messages that may leave together leave in one send(2)
 *   --seconds S, --warmup W   the window that is measured (2), and the load before it (1)
 *   --pid SERVER     whose CPU is measured, with its children; without it those figures are null
 *   --mode echo      the default: a message leaves when a whole one is back
 *   --mode stream    the same bytes without borders: D*B of them are kept in flight. For throughput
 *   --mode file      a request of 8 bytes, and the F bytes of --file (all of it by default) as the answer
 *   --rate R         open loop, R messages a second over all connections, at fixed times: what is late counts from
 *                    the time it was due, and nothing waits for an answer (--depth means nothing). Never sleeps
 *   --spin MICROS    asks epoll again without blocking for so long before it blocks
 *   --idle I         I more connections, opened likewise, then left alone
 *
 * Latency: from the call that sent the first byte (or from the due time) until the last byte was read.
 * At the end all that is in flight must come back. One JSON object on stdout.
 * Exit status: 1 the server was wrong (says which connection and offset), 2 usage, or the machine's limits.
 */
#define _GNU_SOURCE
#include "common.h"
#include "connect.h"
#include "content.h"
#include "cpu.h"
#include "histogram.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { BUFFER = 256 * 1024, EVENTS = 1024, PENDING = 256, REQUEST = 8 };
static const int64_t SECOND = 1000000000, PATIENCE = 10000000000;

struct connection {
  int fd;
  uint64_t allowed, sent;     /* bytes: may be sent by now, have been sent */
  uint64_t received, done;    /* bytes; whole messages */
  uint64_t begun;             /* messages of which at least a byte was sent */
  uint64_t ends;              /* bytes received when the current message is whole */
  int64_t *times;             /* a ring: when message m was sent, at m % slots */
};

static long long port, connections = 1, bytes = 64, depth = 1, seconds = 2, warmup = 1, pid, rate, file_bytes;
static long long spin_micros, connect_rate = LLONG_MAX, idle;
static const char *mode = "echo", *path;

static char buffer[BUFFER];
static char *file; /* --mode file: the answer */
static bool streaming;
static uint64_t question, answer, slots; /* bytes of a message, there and back; of the ring of times */
static int epoll;
static struct connection *all;
static struct histogram latencies;
static uint64_t messages, received_bytes, checked_bytes;
static enum { CONNECTING, RUNNING, DRAINING } phase;
static int64_t rate_begin; /* --rate: message k of all is due at rate_begin + k / rate */

static long long number_of(const struct connection *c) { return c - all; }

static int64_t due_time(const struct connection *c, uint64_t message) {
  double k = (double)(message - 1) * (double)connections + (double)number_of(c); /* the first one opened it */
  return rate_begin + (int64_t)(k * 1e9 / (double)rate);
}

static void send_allowed(struct connection *c, int64_t now) {
  while (c->sent < c->allowed) {
    uint64_t length = c->allowed - c->sent;
    if (length > LARGEST_PIECE) length = LARGEST_PIECE;
    ssize_t n = send(c->fd, content_at(number_of(c), c->sent), length, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) die(1, "connection %lld, byte %llu: send: %s", number_of(c), (unsigned long long)c->sent, strerror(errno));
    c->sent += (uint64_t)n;
    for (; c->begun * question < c->sent; c->begun++) c->times[c->begun % slots] = now;
    if ((uint64_t)n < length) return; /* full: OUT will tell */
    if (c->sent < c->allowed) now = now_nanos();
  }
}

static void check(struct connection *c, const char *got, uint64_t length) {
  while (length > 0) {
    const char *expected;
    uint64_t part = length;
    if (file != NULL) {
      uint64_t from = c->received % answer;
      expected = file + from;
      if (part > answer - from) part = answer - from;
    } else {
      expected = content_at(number_of(c), c->received);
    }
    if (memcmp(got, expected, part) != 0) {
      uint64_t i = 0;
      while (got[i] == expected[i]) i++;
      die(1, "connection %lld, byte %llu: got %02x instead of %02x", number_of(c), (unsigned long long)(c->received + i),
          (unsigned char)got[i], (unsigned char)expected[i]);
    }
    c->received += part, got += part, length -= part;
  }
}

/* What has come back permits to send more. */
static void allow_more(struct connection *c) {
  if (phase != RUNNING || rate > 0 || number_of(c) >= connections) return;
  uint64_t allowed = (c->done + (uint64_t)depth) * question;
  if (streaming) {
    allowed = c->received + (uint64_t)depth * question;
    if (allowed - c->allowed < (question < 65536 ? question : 65536)) return;
  }
  c->allowed = allowed;
}

static void receive(struct connection *c) {
  ssize_t n;
  do {
    n = recv(c->fd, buffer, BUFFER, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0)
      die(1, "connection %lld, byte %llu: %s", number_of(c), (unsigned long long)c->received,
          n == 0 ? "the server has closed it" : strerror(errno));
    check(c, buffer, (uint64_t)n);
    if (file == NULL && c->received > c->sent)
      die(1, "connection %lld, byte %llu: more came back than was sent", number_of(c), (unsigned long long)c->sent);
    received_bytes += (uint64_t)n;
    checked_bytes += (uint64_t)n;
    int64_t now = now_nanos();
    for (; c->received >= c->ends; c->ends += answer, c->done++, messages++) {
      if (c->done >= c->begun) die(1, "connection %lld: an answer without a question", number_of(c));
      histogram_record(&latencies, now - (rate > 0 && c->done > 0 ? due_time(c, c->done) : c->times[c->done % slots]));
    }
    allow_more(c);
    if (c->sent < c->allowed) send_allowed(c, now);
  } while (n == BUFFER);
}

/* Serves what is ready; blocks until then, or until the given time, unless it may not sleep. */
static void pass(int64_t until) {
  static struct epoll_event events[EVENTS];
  int64_t begin = now_nanos(), now = begin;
  bool open_loop = rate > 0 && phase == RUNNING;
  int n = 0;
  do {
    if (spin_micros == 0 && !open_loop) break;
    n = epoll_wait(epoll, events, EVENTS, 0);
    if (open_loop) break;
  } while (n == 0 && (now = now_nanos()) < begin + spin_micros * 1000 && now < until);
  if (n == 0 && !open_loop) {
    int64_t millis = (until - now + 999999) / 1000000;
    n = epoll_wait(epoll, events, EVENTS, millis < 0 ? 0 : millis > 1000 ? 1000 : (int)millis);
  }
  if (n < 0 && errno != EINTR) die(2, "epoll_wait: %s", strerror(errno));
  for (int i = 0; i < n; i++) {
    struct connection *c = events[i].data.ptr;
    if (events[i].events & EPOLLOUT && c->sent < c->allowed) send_allowed(c, now_nanos());
    if (events[i].events & ~(uint32_t)EPOLLOUT) receive(c);
  }
}

static void open_connection(struct connection *c) {
  c->fd = connect_to(port, number_of(c));
  c->times = calloc(slots, sizeof *c->times);
  c->allowed = question;
  c->ends = answer;
  struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
  if (c->times == NULL || epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0) die(2, "epoll_ctl: %s", strerror(errno));
}

/* A connection counts as open when its first message is back: the kernel says "connected" long before accept(2). */
static void open_all(void) {
  long long opened = 0, total = connections + idle;
  int64_t begin = now_nanos(), progress = begin;
  for (uint64_t before = 0; messages < (uint64_t)total; before = messages) {
    int64_t now = now_nanos();
    double permitted = connect_rate == LLONG_MAX ? (double)total : (double)(now - begin) / 1e9 * (double)connect_rate + 1;
    for (; opened < total && opened - (long long)messages < PENDING && (double)opened < permitted; opened++)
      open_connection(&all[opened]);
    pass(now + 1000000);
    if (messages != before) progress = now;
    if (now - progress > PATIENCE && opened > (long long)messages)
      die(1, "%lld of %lld connections have no answer after 10 s", opened - (long long)messages, total);
  }
}

static void run_until(int64_t end) {
  static uint64_t next; /* --rate: the first message that was not due yet */
  for (int64_t now; (now = now_nanos()) < end;) {
    while (rate > 0 && rate_begin + (int64_t)((double)next * 1e9 / (double)rate) <= now) {
      struct connection *c = &all[next++ % (uint64_t)connections];
      c->allowed += question;
      send_allowed(c, now);
    }
    pass(end);
  }
}

/* Nothing new is begun; everything that is in flight must come back. */
static void drain(void) {
  phase = DRAINING;
  int64_t end = now_nanos() + PATIENCE;
  for (long long i = 0; i < connections; i++) {
    struct connection *c = &all[i];
    uint64_t begun = (c->sent + question - 1) / question;
    c->allowed = begun * question;
    send_allowed(c, now_nanos());
    while (c->done < begun) {
      pass(end);
      if (c->done < begun && now_nanos() >= end)
        die(1, "connection %lld: %llu of %llu bytes came back within 10 s", i, (unsigned long long)c->received,
            (unsigned long long)(begun * answer));
    }
  }
}

static void prepare(void) {
  bool files = strcmp(mode, "file") == 0;
  streaming = strcmp(mode, "stream") == 0;
  if (!files && !streaming && strcmp(mode, "echo") != 0) die(2, "--mode is echo, stream or file, not %s", mode);
  if (port < 1 || port > 65535 || connections < 1 || depth < 1 || seconds < 1 || bytes < 1 || bytes > LARGEST_PIECE)
    die(2, "--port is 1 to 65535; --connections, --depth, --seconds at least 1; --bytes 1 to %d", LARGEST_PIECE);
  if (streaming && rate > 0) die(2, "--rate and --mode stream do not go together");
  question = answer = (uint64_t)bytes;
  slots = (uint64_t)depth + 2;
  if (files) {
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) die(2, "--mode file needs a --file that can be read");
    if (status.st_size == 0 || (file_bytes != 0 && file_bytes != status.st_size))
      die(2, "%s has %lld bytes", path, (long long)status.st_size);
    question = REQUEST;
    answer = (uint64_t)status.st_size;
    file = mmap(NULL, answer, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (file == MAP_FAILED) die(2, "mmap: %s", strerror(errno));
  }
  long long limit = raise_open_files(), needed = connections + idle + 16;
  if (limit < needed) die(2, "%lld open files are needed and %lld allowed: raise the limit (ulimit -Hn)", needed, limit);
  all = calloc((size_t)(connections + idle), sizeof *all);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (all == NULL || epoll < 0) die(2, "cannot start: %s", strerror(errno));
  content_fill();
}

static double micros(const struct histogram *h, double percent) { return (double)histogram_percentile(h, percent) / 1e3; }

int main(int argc, char **argv) {
  const struct option options[] = {
      {"--port", &port, NULL},         {"--connections", &connections, NULL},   {"--bytes", &bytes, NULL},
      {"--depth", &depth, NULL},       {"--seconds", &seconds, NULL},           {"--warmup", &warmup, NULL},
      {"--pid", &pid, NULL},           {"--mode", NULL, &mode},                 {"--rate", &rate, NULL},
      {"--file", NULL, &path},         {"--file-bytes", &file_bytes, NULL},     {"--spin", &spin_micros, NULL},
      {"--idle", &idle, NULL},         {"--connect-rate", &connect_rate, NULL}, {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "load --port P [--connections N] [--bytes B] ...: see the top of load.c");
  prepare();
  open_all();

  phase = RUNNING;
  int64_t begin = rate_begin = now_nanos();
  for (long long i = 0; i < connections; i++) {
    allow_more(&all[i]);
    send_allowed(&all[i], now_nanos());
  }
  run_until(begin + warmup * SECOND);

  struct cpu from = cpu_now((pid_t)pid);
  messages = received_bytes = 0;
  histogram_reset(&latencies);
  begin = now_nanos();
  run_until(begin + seconds * SECOND);
  double elapsed = (double)(now_nanos() - begin) / 1e9;
  struct cpu to = cpu_now((pid_t)pid);
  uint64_t counted = messages, bytes_back = received_bytes;
  struct histogram measured = latencies; /* before the last ones come back */
  drain();
  if (counted == 0) die(1, "no message came back within the %lld s that were measured", seconds);

  printf("{\"mode\":\"%s\",\"messages\":%llu,\"seconds\":%.6f,\"messagesPerSecond\":%.1f,\"bytesPerSecond\":%.1f,", mode,
         (unsigned long long)counted, elapsed, (double)counted / elapsed, (double)bytes_back / elapsed);
  printf("\"p50us\":%.3f,\"p99us\":%.3f,\"p999us\":%.3f,\"maxus\":%.3f,", micros(&measured, 50), micros(&measured, 99),
         micros(&measured, 99.9), (double)measured.max / 1e3);
  cpu_print(&from, &to, (pid_t)pid);
  printf("\"checkedBytes\":%llu,\"connections\":%lld,\"bytes\":%llu,\"depth\":%lld,\"rate\":%lld,\"idle\":%lld,",
         (unsigned long long)checked_bytes, connections, (unsigned long long)answer, depth, rate, idle);
  printf("\"coordinatedOmission\":\"%s\"}\n", rate > 0 ? "open loop: counted from the time each message was due"
                                                      : "closed loop: a stalled server slows its own load");
  return 0;
}
