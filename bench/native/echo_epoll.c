/*
 * An echo server on edge-triggered epoll, by hand: the yardstick of the echo figures.
 *
 * One message costs two system calls, recv and send; epoll_wait is shared by all that were ready together.
 *   - A socket is registered once, for IN, OUT and RDHUP, and never modified.
 *   - A read that did not fill the buffer is the last one: the next byte brings a new edge. Only the end of the
 *     stream may have come with these bytes, and then its edge is gone; so RDHUP, HUP and ERR mean "read to the end".
 *   - What a full socket does not take is kept in the connection, which is read again only when all of it is sent.
 *   - No memory is allocated for a message, only for a connection, and for its first short write.
 *   - A connection that always has more to read steps back after READS_IN_A_ROW buffers, so that others get a turn.
 *
 * echo_epoll [--port P] [--loops N] [--spin MICROS] [--buffer KIB] [--file PATH]
 *   --port P       0, the default: the kernel chooses
 *   --loops N      N threads, each with an epoll and a listening socket of its own (SO_REUSEPORT)
 *   --spin MICROS  asks again without blocking until that long nothing has come, then blocks
 *   --buffer KIB   how much is read at once; 64 by default
 *   --file PATH    no echo: answers every 8 bytes received with the whole file, by sendfile(2)
 * Prints "listening on 127.0.0.1:PORT (WHAT)"; ends on SIGTERM.
 */
#define _GNU_SOURCE
#include "common.h"
#include "listen.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 1024, READS_IN_A_ROW = 16, REQUEST = 8 };
static const uint32_t ENDING = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

struct connection {
  int fd;                  /* -1: closed, but still in the list of the waiting */
  bool unread;             /* more may be there to read, and no edge will say so */
  bool ending;             /* the end of the stream has been announced */
  bool waiting;            /* in the loop's list of those that get another turn */
  char *rest;              /* what the socket did not take: rest[from, to) */
  uint32_t from, to;
  uint64_t asked;          /* --file: bytes of requests not yet answered */
  int file;                /* --file: of the current answer; -1 between answers */
  off_t sent;              /* --file: how much of the current answer is sent */
  struct connection *next; /* of the waiting */
};

struct loop {
  int epoll, listener;
  struct connection *waiting;
  char *buffer;
};

static long long spin_micros;
static uint32_t buffer_size = 64 * 1024;
static const char *file_path;
static off_t file_size;

/* Opened for each answer and asked for its size, as a server does whose files may change. */
static int open_file(void) {
  struct stat status;
  int file = open(file_path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &status) != 0) die(2, "cannot read %s: %s", file_path, strerror(errno));
  if (status.st_size != file_size) die(2, "%s has changed", file_path);
  return file;
}

static void close_connection(struct connection *c) {
  close(c->fd);
  if (c->file >= 0) close(c->file);
  free(c->rest);
  c->fd = -1;
  c->rest = NULL;
  if (!c->waiting) free(c);
}

static void keep(struct connection *c, const char *bytes, uint32_t length) {
  if (c->rest == NULL && (c->rest = malloc(buffer_size)) == NULL) die(2, "out of memory");
  memcpy(c->rest, bytes, length);
  c->from = 0;
  c->to = length;
}

/* Whether all that was owed is sent. If not, OUT will tell when to go on; false also for a broken connection. */
static bool flush(struct connection *c, bool *broken) {
  while (c->from < c->to) {
    ssize_t n = send(c->fd, c->rest + c->from, c->to - c->from, MSG_NOSIGNAL);
    if (n < 0) {
      *broken = errno != EAGAIN;
      return false;
    }
    c->from += (uint32_t)n;
    if (c->from < c->to) return false;
  }
  while (c->asked >= REQUEST) {
    if (c->file < 0) c->file = open_file();
    ssize_t n = sendfile(c->fd, c->file, &c->sent, (size_t)(file_size - c->sent));
    if (n <= 0) {
      *broken = n == 0 || errno != EAGAIN; /* 0: somebody has truncated the file */
      return false;
    }
    if (c->sent < file_size) continue; /* a pipe's worth at a time, until EAGAIN */
    close(c->file);
    c->file = -1;
    c->sent = 0;
    c->asked -= REQUEST;
  }
  return true;
}

static void step_back(struct loop *l, struct connection *c) {
  if (c->waiting) return;
  c->waiting = true;
  c->next = l->waiting;
  l->waiting = c;
}

/* Sends what is owed, then reads and answers, until there is nothing to read or no room to write. */
static void serve(struct loop *l, struct connection *c) {
  bool broken = false;
  for (int reads = 0;; reads++) {
    if ((c->from < c->to || c->asked >= REQUEST) && !flush(c, &broken)) {
      if (broken) close_connection(c);
      return;
    }
    if (!c->unread) return;
    if (reads == READS_IN_A_ROW) {
      step_back(l, c);
      return;
    }
    ssize_t n = recv(c->fd, l->buffer, buffer_size, 0);
    if (n <= 0) {
      if (n < 0 && errno == EAGAIN)
        c->unread = false;
      else
        close_connection(c);
      return;
    }
    c->unread = n == buffer_size || c->ending;
    if (file_path != NULL) {
      c->asked += (uint64_t)n;
      continue;
    }
    ssize_t sent = send(c->fd, l->buffer, (size_t)n, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
      close_connection(c);
      return;
    }
    if (sent < n) {
      if (sent < 0) sent = 0;
      keep(c, l->buffer + sent, (uint32_t)(n - sent));
      return;
    }
  }
}

static void accept_all(struct loop *l) {
  for (int fd; (fd = accept_one(l->listener)) >= 0;) {
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL) die(2, "out of memory");
    c->fd = fd;
    c->file = -1;
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) != 0) die(2, "epoll_ctl: %s", strerror(errno));
  }
}

static void serve_waiting(struct loop *l) {
  struct connection *c = l->waiting;
  l->waiting = NULL;
  while (c != NULL) {
    struct connection *next = c->next;
    c->waiting = false;
    if (c->fd < 0)
      free(c);
    else
      serve(l, c);
    c = next;
  }
}

/* Waits; with --spin it first asks for so long without blocking. */
static int next_events(struct loop *l, struct epoll_event *events) {
  if (l->waiting != NULL) return epoll_wait(l->epoll, events, EVENTS, 0);
  if (spin_micros > 0) {
    int n = epoll_wait(l->epoll, events, EVENTS, 0);
    if (n != 0) return n;
    int64_t until = now_nanos() + spin_micros * 1000;
    do {
      n = epoll_wait(l->epoll, events, EVENTS, 0);
      if (n != 0) return n;
    } while (now_nanos() < until);
  }
  return epoll_wait(l->epoll, events, EVENTS, -1);
}

static void *run(void *argument) {
  struct loop *l = argument;
  struct epoll_event *events = malloc(EVENTS * sizeof *events);
  if (events == NULL) die(2, "out of memory");
  for (;;) {
    int n = next_events(l, events);
    if (n < 0 && errno != EINTR) die(2, "epoll_wait: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
      struct connection *c = events[i].data.ptr;
      if (c == NULL) {
        accept_all(l);
        continue;
      }
      uint32_t what = events[i].events;
      if (what & ENDING) c->ending = true;
      if (what & (EPOLLIN | ENDING)) c->unread = true;
      serve(l, c);
    }
    if (l->waiting != NULL) serve_waiting(l);
  }
  return NULL;
}

static struct loop *open_loop(uint16_t *port) {
  struct loop *l = calloc(1, sizeof *l);
  if (l == NULL || (l->buffer = aligned_alloc(PAGE, buffer_size)) == NULL) die(2, "out of memory");
  l->listener = listen_on(port);
  l->epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
  if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->listener, &e) != 0)
    die(2, "epoll: %s", strerror(errno));
  return l;
}

int main(int argc, char **argv) {
  long long wanted_port = 0, loops = 1, buffer_kib = 64;
  const char *path = NULL;
  const struct option options[] = {{"--port", &wanted_port, NULL},
                                   {"--loops", &loops, NULL},
                                   {"--spin", &spin_micros, NULL},
                                   {"--buffer", &buffer_kib, NULL},
                                   {"--file", NULL, &path},
                                   {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "echo_epoll [--port P] [--loops N] [--spin MICROS] [--buffer KIB] [--file PATH]");
  if (wanted_port > 65535 || loops < 1 || loops > 64) die(2, "--port is at most 65535, --loops 1 to 64");
  buffer_size = buffer_bytes(buffer_kib);
  if (path != NULL) {
    struct stat status;
    if (stat(path, &status) != 0) die(2, "cannot read %s: %s", path, strerror(errno));
    if (status.st_size == 0) die(2, "%s is empty", path);
    file_path = path;
    file_size = status.st_size;
  }
  raise_open_files();
  uint16_t port = (uint16_t)wanted_port;
  struct loop *all[64];
  for (int i = 0; i < loops; i++) all[i] = open_loop(&port);
  printf("listening on 127.0.0.1:%d (C, epoll edge-triggered%s, %lld loops with SO_REUSEPORT, spin %lld us)\n",
         port, path != NULL ? ", sendfile" : "", loops, spin_micros);
  fflush(stdout);
  for (int i = 1; i < loops; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, all[i]) != 0) die(2, "pthread_create failed");
  }
  run(all[0]);
}
