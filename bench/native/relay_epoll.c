/*
 * A relay on edge-triggered epoll, by hand: passes each connection on to a server. The yardstick of the relay figures.
 *
 * A message costs two system calls, recv and send, and as many for its answer; epoll_wait is shared by all that were ready
 * together. As in echo_epoll.c, a socket is registered once, a read that did not fill the buffer is the last one unless the
 * end of the stream was announced, and a busy pair steps back after READS_IN_A_ROW buffers.
 *   - What a socket does not take stays in the buffer it was read into: the direction keeps that buffer, the loop takes
 *     another one, and the direction is not read until all of it is sent. The opposite direction goes on.
 *   - The end of one direction is passed on behind its bytes (shutdown); the pair ends when both directions have.
 *   - If one of the two breaks, the other one is reset, so that its peer does not take what it got for the whole.
 *
 * relay_epoll --upstream P [--port P] [--buffer KIB] [--splice 1]
 *   --upstream P   where the server listens, on 127.0.0.1
 *   --port P       0, the default: the kernel chooses
 *   --buffer KIB   how much is read at once; 64 by default
 *   --splice 1     pipes instead of buffers: bytes go from socket to socket by splice(2) without being copied. A pipe may
 *                  be full of small pieces, so a short read says nothing: each direction is read until EAGAIN
 * Prints "listening on 127.0.0.1:PORT (WHAT)"; ends on SIGTERM.
 */
#define _GNU_SOURCE
#include "common.h"
#include "connect.h"
#include "listen.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 1024, READS_IN_A_ROW = 16 };
static const uint32_t ENDING = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

/* Bytes between two sockets: [from, to) of a buffer, or that many in a pipe. */
struct store {
  char *bytes;
  int pipe[2];
  uint32_t from, to;
  struct store *next; /* of the free ones */
};

/* One socket of a pair, and the direction that begins at it. */
struct end {
  int fd;
  bool connected;     /* bytes and the end of the stream can be passed to it */
  bool unread;        /* more may be there to read, and no edge will say so */
  bool ending;        /* the end of the stream has been announced */
  bool at_end;        /* all of the stream has been read */
  bool passed;        /* the other one has been told so */
  struct store *kept; /* what was read here and the other one did not take */
  struct end *other;
  struct pair *pair;
};

struct pair {
  struct end client, server;
  bool closed;       /* an event of this pass may still point to it: freed behind the pass */
  bool waiting;      /* in the list of those that get another turn, or are freed */
  struct pair *next; /* of the waiting */
};

static uint32_t buffer_size;
static bool splicing;
static long long upstream;
static int epoll, listener;
static struct pair *waiting;
static struct store *current, *free_stores; /* all reads go to the current one */

static struct store *take_store(void) {
  struct store *s = free_stores;
  if (s != NULL) {
    free_stores = s->next;
    return s;
  }
  s = calloc(1, sizeof *s);
  if (s == NULL || (!splicing && (s->bytes = aligned_alloc(PAGE, buffer_size)) == NULL)) die(2, "out of memory");
  if (splicing && pipe2(s->pipe, O_NONBLOCK | O_CLOEXEC) != 0) die(2, "pipe: %s", strerror(errno));
  if (splicing && fcntl(s->pipe[1], F_SETPIPE_SZ, (int)buffer_size) < 0)
    die(2, "no pipe of %u bytes: %s", buffer_size, strerror(errno));
  return s;
}

/* A pipe that is not empty cannot be used again. */
static void release_store(struct store *s) {
  if (splicing && s->from < s->to) {
    close(s->pipe[0]);
    close(s->pipe[1]);
    free(s);
    return;
  }
  s->next = free_stores;
  free_stores = s;
}

static void wait_for_turn(struct pair *p) {
  if (p->waiting) return;
  p->waiting = true;
  p->next = waiting;
  waiting = p;
}

static void close_end(struct end *e, bool reset) {
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (reset) setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(e->fd);
  if (e->kept != NULL) release_store(e->kept);
}

static void close_pair(struct pair *p, bool reset) {
  close_end(&p->client, reset);
  close_end(&p->server, reset);
  p->closed = true;
  wait_for_turn(p);
}

/* As recv(2), into a store that is empty. */
static ssize_t fill(struct store *s, int fd) {
  ssize_t n = splicing ? splice(fd, NULL, s->pipe[1], NULL, buffer_size, SPLICE_F_MOVE | SPLICE_F_NONBLOCK)
                       : recv(fd, s->bytes, buffer_size, 0);
  s->from = 0;
  s->to = n > 0 ? (uint32_t)n : 0;
  return n;
}

/* Whether the socket has taken all. If not, OUT will tell when to go on, unless it is broken. */
static bool empty(struct store *s, int fd, bool *broken) {
  while (s->from < s->to) {
    uint32_t length = s->to - s->from;
    ssize_t n = splicing ? splice(s->pipe[0], NULL, fd, NULL, length, SPLICE_F_MOVE | SPLICE_F_NONBLOCK)
                         : send(fd, s->bytes + s->from, length, MSG_NOSIGNAL);
    if (n < 0) {
      *broken = errno != EAGAIN;
      return false;
    }
    s->from += (uint32_t)n;
    if (n < length && !splicing) return false; /* full; splice(2) may have stopped for another reason */
  }
  return true;
}

/* Passes on what was kept, then reads and passes on, until there is nothing to read or no room to write. */
static void pass_on(struct end *e) {
  struct end *to = e->other;
  bool broken = false;
  if (e->passed || !to->connected) return;
  for (int reads = 0;; reads++) {
    if (e->kept != NULL) {
      if (!empty(e->kept, to->fd, &broken)) break;
      release_store(e->kept);
      e->kept = NULL;
    }
    if (e->at_end) {
      e->passed = true;
      if (to->passed)
        close_pair(e->pair, false);
      else
        broken = shutdown(to->fd, SHUT_WR) != 0;
      break;
    }
    if (!e->unread) break;
    if (reads == READS_IN_A_ROW) {
      wait_for_turn(e->pair);
      break;
    }
    ssize_t n = fill(current, e->fd);
    if (n < 0 && errno == EAGAIN) {
      e->unread = false;
      break;
    }
    if (n < 0) {
      broken = true;
      break;
    }
    e->at_end = n == 0;
    e->unread = splicing || n == buffer_size || e->ending;
    if (!empty(current, to->fd, &broken)) {
      e->kept = current;
      current = take_store();
      break;
    }
  }
  if (broken) close_pair(e->pair, true);
}

static void add_to_epoll(struct end *e, int fd, struct pair *p, struct end *other) {
  e->fd = fd;
  e->pair = p;
  e->other = other;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = e};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) die(2, "epoll_ctl: %s", strerror(errno));
}

static void accept_all(void) {
  for (int fd; (fd = accept_one(listener)) >= 0;) {
    struct pair *p = calloc(1, sizeof *p);
    if (p == NULL) die(2, "out of memory");
    add_to_epoll(&p->client, fd, p, &p->server);
    add_to_epoll(&p->server, connect_to(upstream, 0), p, &p->client);
  }
}

static void on_event(struct end *e, uint32_t what) {
  if (e->pair->closed) return;
  if (what & EPOLLERR) {
    close_pair(e->pair, true);
    return;
  }
  if (what & EPOLLOUT) e->connected = true;
  if (what & ENDING) e->ending = true;
  if (what & (EPOLLIN | ENDING)) e->unread = true;
  pass_on(e);
  if (!e->pair->closed) pass_on(e->other);
}

/* Those that stepped back get a turn, those that were closed are freed: no event points to them any more. */
static void serve_waiting(void) {
  struct pair *p = waiting;
  waiting = NULL;
  while (p != NULL) {
    struct pair *next = p->next;
    p->waiting = false;
    if (p->closed) {
      free(p);
    } else {
      pass_on(&p->client);
      if (!p->closed) pass_on(&p->server);
    }
    p = next;
  }
}

static void run(void) {
  static struct epoll_event events[EVENTS];
  for (;;) {
    int n = epoll_wait(epoll, events, EVENTS, waiting != NULL ? 0 : -1);
    if (n < 0 && errno != EINTR) die(2, "epoll_wait: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
      if (events[i].data.ptr == NULL)
        accept_all();
      else
        on_event(events[i].data.ptr, events[i].events);
    }
    if (waiting != NULL) serve_waiting();
  }
}

int main(int argc, char **argv) {
  long long wanted_port = 0, buffer_kib = 64, splice_wanted = 0;
  const struct option options[] = {{"--port", &wanted_port, NULL},
                                   {"--upstream", &upstream, NULL},
                                   {"--buffer", &buffer_kib, NULL},
                                   {"--splice", &splice_wanted, NULL},
                                   {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "relay_epoll --upstream P [--port P] [--buffer KIB] [--splice 1]");
  if (wanted_port > 65535 || upstream < 1 || upstream > 65535 || splice_wanted > 1)
    die(2, "--upstream is 1 to 65535, --port at most 65535, --splice 0 or 1");
  buffer_size = buffer_bytes(buffer_kib);
  splicing = splice_wanted == 1;
  signal(SIGPIPE, SIG_IGN); /* splice(2) has no MSG_NOSIGNAL */
  raise_open_files();
  current = take_store();
  uint16_t port = (uint16_t)wanted_port;
  listener = listen_on(&port);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e) != 0) die(2, "epoll: %s", strerror(errno));
  printf("listening on 127.0.0.1:%d (C, epoll edge-triggered, relay by %s of %lld KiB)\n", port,
         splicing ? "splice(2) with pipes" : "buffers", buffer_kib);
  fflush(stdout);
  run();
}
