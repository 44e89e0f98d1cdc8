/*
 * The load generator: one thread, edge-triggered epoll, no library. Every byte that returns is compared. Compiled with -DTLS as
 * load_tls it does the same over TLS 1.3 with OpenSSL: see tls.h.
 *
 * load --port P [--connections N] [--bytes B] [--depth D] [--seconds S] [--warmup W] [--pid SERVER]
 *      [--mode echo|stream|file|hold|handshake] [--rate R] [--file PATH] [--file-bytes F] [--spin MICROS] [--sleep 0|1]
 *      [--connect-rate C] [--idle I] [--resume 0|1]
 *   --connections N  1 by default; each is opened, sends one message and has it back before the load begins;
 *                    at most 256 are on that way at a time, and --connect-rate C opens at most C a second
 *   --bytes B        of a message, 64 by default; --depth D messages in flight a connection, 1 by default.
 *                    Messages that may leave together leave in one send(2)
 *   --seconds S, --warmup W   the window that is measured (2), and the load before it (1)
 *   --pid SERVER     whose CPU is measured, with its children; without it those figures are null
 *   --mode echo      the default: a message leaves when a whole one is back
 *   --mode stream    the same bytes without borders: D*B of them are kept in flight. For throughput
 *   --mode file      a request of 8 bytes, and the F bytes of --file (all of it by default) as the answer
 *   --mode hold      opens all connections, prints "listening on 127.0.0.1:P (N held)", and leaves them alone until SIGTERM
 *   --mode handshake load_tls only. N connections at a time: each shakes hands, has one message back, ends as TLS and TCP do, and
 *                    makes room for the next; those are the messages of the result, and their latency is counted from connect(2)
 *                    (with --rate from their due time). --resume 1: with the session of the one before; fewer than
 *                    99 % of them resumed is an error
 *   --rate R         open loop, R messages a second over all connections, at fixed times: what is late counts from
 *                    the time it was due, and nothing waits for an answer (--depth means nothing). Never sleeps, so
 *                    that it is never late itself, unless --sleep 1: for when something else needs the processor
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
#ifdef TLS
#include "tls.h"
#endif

enum { BUFFER = 256 * 1024, EVENTS = 1024, PENDING = 256, REQUEST = 8 };
static const int64_t SECOND = 1000000000, PATIENCE = 10000000000;

struct connection {
#ifdef TLS
  struct tls tls; /* the first member */
  uint64_t tried; /* bytes that were given to OpenSSL, which must get them again */
  enum { OPEN, ENDING, ENDED } stage; /* --mode handshake */
  int64_t from;   /* --mode handshake: since when it counts */
#endif
  int fd;
  uint64_t allowed, sent;     /* bytes: may be sent by now, have been sent */
  uint64_t received, done;    /* bytes; whole messages */
  uint64_t begun;             /* messages of which at least a byte was sent */
  uint64_t ends;              /* bytes received when the current message is whole */
  int64_t *times;             /* a ring: when message m was sent, at m % slots */
};

static long long port, connections = 1, bytes = 64, depth = 1, seconds = 2, warmup = 1, pid, rate, file_bytes;
static long long spin_micros, connect_rate = LLONG_MAX, idle, may_sleep, resume;
static const char *mode = "echo", *path;

static char buffer[BUFFER];
static char *file; /* --mode file: the answer */
static bool streaming, holding, shaking;
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

static ssize_t put(struct connection *c, const char *from, uint64_t length) {
#ifdef TLS
  if (c->sent + length > c->tried) c->tried = c->sent + length;
  return tls_send(&c->tls, from, length);
#else
  return send(c->fd, from, length, MSG_NOSIGNAL);
#endif
}

static ssize_t get(struct connection *c) {
#ifdef TLS
  return tls_receive(&c->tls, buffer, BUFFER);
#else
  return recv(c->fd, buffer, BUFFER, 0);
#endif
}

static void send_allowed(struct connection *c, int64_t now) {
  while (c->sent < c->allowed) {
    uint64_t length = c->allowed - c->sent;
    if (length > LARGEST_PIECE) length = LARGEST_PIECE;
    ssize_t n = put(c, content_at(number_of(c), c->sent), length);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) die(1, "connection %lld, byte %llu: send: %s", number_of(c), (unsigned long long)c->sent, strerror(errno));
    c->sent += (uint64_t)n;
    for (; c->begun * question < c->sent; c->begun++) c->times[c->begun % slots] = now;
#ifndef TLS /* a record at a time */
    if ((uint64_t)n < length) return; /* full: OUT will tell */
#endif
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

#ifdef TLS
static uint64_t resumed;

/* What connections of --mode handshake do after their message is back; true if there is nothing more to read. */
static bool end_handshake(struct connection *c) {
  if (c->stage == OPEN) {
    resumed += (uint64_t)SSL_session_reused(c->tls.ssl);
    c->stage = ENDING;
    if (SSL_shutdown(c->tls.ssl) < 0 || shutdown(c->fd, SHUT_WR) != 0)
      die(1, "connection %lld cannot be ended: %s", number_of(c), strerror(errno));
  }
  ERR_clear_error();
  errno = 0;
  int n = SSL_read(c->tls.ssl, buffer, BUFFER);
  if (n > 0) die(1, "connection %lld: more came back than was sent", number_of(c));
  int why = SSL_get_error(c->tls.ssl, n);
  if (why == SSL_ERROR_WANT_READ) return true;
  if (why != SSL_ERROR_ZERO_RETURN) die(1, "connection %lld did not end with close_notify", number_of(c));
  close(c->fd);
  SSL_free(c->tls.ssl);
  c->tls.ssl = NULL;
  c->stage = ENDED;
  return true;
}
#endif

static void receive(struct connection *c) {
  ssize_t n;
#ifdef TLS
  if (!c->tls.up) send_allowed(c, now_nanos()); /* goes on with the handshake */
  if (!c->tls.up) return;
  if (shaking && phase != CONNECTING && c->stage != OPEN) {
    if (c->stage == ENDING) end_handshake(c);
    return;
  }
#endif
  do {
    n = get(c);
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
#ifdef TLS
      if (shaking) {
        histogram_record(&latencies, now - c->from);
        c->done++, messages++;
        end_handshake(c);
        return;
      }
#endif
      histogram_record(&latencies, now - (rate > 0 && c->done > 0 ? due_time(c, c->done) : c->times[c->done % slots]));
    }
    allow_more(c);
    if (c->sent < c->allowed) send_allowed(c, now);
#ifdef TLS
  } while (true); /* of a record the rest may be with OpenSSL already, and no edge will say so */
#else
  } while (n == BUFFER);
#endif
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
  if (n == 0 && open_loop && may_sleep) {
    int64_t nanos = until - now < 0 ? 0 : until - now > SECOND ? SECOND : until - now;
    struct timespec timeout = {.tv_sec = nanos / SECOND, .tv_nsec = nanos % SECOND};
    n = epoll_pwait2(epoll, events, EVENTS, &timeout, NULL);
  }
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

static void open_connection(struct connection *c, long long number) {
  c->fd = connect_to(port, number);
  if (c->times == NULL) c->times = calloc(slots, sizeof *c->times);
#ifdef TLS
  tls_open(&c->tls, c->fd, resume);
#endif
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
      open_connection(&all[opened], opened);
    pass(now + 1000000);
    if (messages != before) progress = now;
    if (now - progress > PATIENCE && opened > (long long)messages)
      die(1, "%lld of %lld connections have no answer after 10 s", opened - (long long)messages, total);
  }
}

#ifdef TLS
/* Source addresses change, for a port of one that was closed is not free for a minute. */
enum { ADDRESSES = 200 };

/* Opens the next connection on a slot that has ended one, or was never used. */
static void shake_hands(struct connection *c, int64_t since) {
  static long long number;
  c->sent = c->received = c->done = c->begun = c->tried = 0;
  c->stage = OPEN;
  c->from = since;
  open_connection(c, number++ % (ADDRESSES * OF_ONE_ADDRESS));
}

static void shake_until(int64_t end) {
  static uint64_t next; /* --rate: the first that was not due yet */
  for (int64_t now; (now = now_nanos()) < end;) {
    int64_t due = end;
    for (long long i = 0; i < connections; i++) {
      struct connection *c = &all[i];
      if (c->tls.ssl != NULL) continue;
      if (rate == 0) {
        shake_hands(c, now_nanos());
        continue;
      }
      due = rate_begin + (int64_t)((double)next * 1e9 / (double)rate);
      if (due > now_nanos()) break;
      next++;
      shake_hands(c, due);
    }
    pass(due < end ? due : end);
  }
}

/* Those on their way must get there. */
static void end_shaking(void) {
  phase = DRAINING;
  int64_t end = now_nanos() + PATIENCE;
  for (long long i = 0; i < connections; i++)
    while (all[i].tls.ssl != NULL) {
      pass(end);
      if (now_nanos() >= end) die(1, "connection %lld: no handshake, answer or end within 10 s", i);
    }
}
#endif

static void run_until(int64_t end) {
  static uint64_t next; /* --rate: the first message that was not due yet */
#ifdef TLS
  if (shaking) {
    shake_until(end);
    return;
  }
#endif
  for (int64_t now; (now = now_nanos()) < end;) {
    while (rate > 0 && rate_begin + (int64_t)((double)next * 1e9 / (double)rate) <= now) {
      struct connection *c = &all[next++ % (uint64_t)connections];
      c->allowed += question;
      send_allowed(c, now);
    }
    int64_t due = rate > 0 ? rate_begin + (int64_t)((double)next * 1e9 / (double)rate) : end;
    pass(due < end ? due : end);
  }
}

/* Nothing new is begun; everything that is in flight must come back. */
static void drain(void) {
  phase = DRAINING;
  int64_t end = now_nanos() + PATIENCE;
  for (long long i = 0; i < connections; i++) {
    struct connection *c = &all[i];
    uint64_t given = c->sent;
#ifdef TLS
    if (c->tried > given) given = c->tried;
#endif
    uint64_t begun = (given + question - 1) / question;
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
  holding = strcmp(mode, "hold") == 0;
#ifdef TLS
  shaking = strcmp(mode, "handshake") == 0;
  tls_prepare();
#endif
  if (!files && !streaming && !holding && !shaking && strcmp(mode, "echo") != 0)
    die(2, "--mode is echo, stream, file, hold or, of load_tls, handshake, not %s", mode);
  if (resume && !shaking) die(2, "--resume goes with --mode handshake");
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
      {"--idle", &idle, NULL},         {"--connect-rate", &connect_rate, NULL}, {"--sleep", &may_sleep, NULL},
      {"--resume", &resume, NULL},     {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "load --port P [--connections N] [--bytes B] ...: see the top of load.c");
  prepare();
  if (!shaking) open_all();
  if (holding) {
    printf("listening on 127.0.0.1:%lld (%lld held)\n", port, connections + idle);
    fflush(stdout);
    for (;;) pause();
  }

  phase = RUNNING;
  int64_t begin = rate_begin = now_nanos();
  for (long long i = 0; i < connections && !shaking; i++) {
    allow_more(&all[i]);
    send_allowed(&all[i], now_nanos());
  }
  run_until(begin + warmup * SECOND);

  struct cpu from = cpu_now((pid_t)pid);
  messages = received_bytes = 0;
#ifdef TLS
  resumed = 0;
#endif
  histogram_reset(&latencies);
  begin = now_nanos();
  run_until(begin + seconds * SECOND);
  double elapsed = (double)(now_nanos() - begin) / 1e9;
  struct cpu to = cpu_now((pid_t)pid);
  uint64_t counted = messages, bytes_back = received_bytes;
  struct histogram measured = latencies; /* before the last ones come back */
#ifdef TLS
  uint64_t again = resumed;
  if (shaking) end_shaking();
  uint64_t first_ones = warmup == 0 ? (uint64_t)connections : 0; /* had no session yet */
  if (resume && again + counted / 100 + first_ones < counted)
    die(1, "only %llu of %llu handshakes were resumed", (unsigned long long)again, (unsigned long long)counted);
#endif
  if (!shaking) drain();
  if (counted == 0) die(1, "no message came back within the %lld s that were measured", seconds);

  printf("{\"mode\":\"%s\",\"messages\":%llu,\"seconds\":%.6f,\"messagesPerSecond\":%.1f,\"bytesPerSecond\":%.1f,", mode,
         (unsigned long long)counted, elapsed, (double)counted / elapsed, (double)bytes_back / elapsed);
  printf("\"p50us\":%.3f,\"p99us\":%.3f,\"p999us\":%.3f,\"maxus\":%.3f,", micros(&measured, 50), micros(&measured, 99),
         micros(&measured, 99.9), (double)measured.max / 1e3);
  cpu_print(&from, &to, (pid_t)pid);
  printf("\"checkedBytes\":%llu,\"connections\":%lld,\"bytes\":%llu,\"depth\":%lld,\"rate\":%lld,\"idle\":%lld,",
         (unsigned long long)checked_bytes, connections, (unsigned long long)answer, depth, rate, idle);
#ifdef TLS
  printf("\"resumed\":%llu,\"tls\":\"TLS 1.3, " TLS_CIPHER ", " TLS_GROUP ", %s\",", (unsigned long long)again, OpenSSL_version(OPENSSL_VERSION));
#endif
  printf("\"coordinatedOmission\":\"%s\"}\n", rate > 0 ? "open loop: counted from the time each message was due"
                                                      : "closed loop: a stalled server slows its own load");
  return 0;
}
