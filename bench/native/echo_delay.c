/*
 * The server behind the servers of "a downstream call": sends back what it got, so many microseconds later.
 *
 * echo_delay [--port P] [--micros M]
 *   --port P    0, the default: the kernel chooses
 *   --micros M  1,000 by default
 * One thread, epoll. All answers are due after the same time, so those that wait are a queue. A connection has one question of at
 * most 4 KiB on its way; one that asks before its answer has come is closed.
 * Prints "listening on 127.0.0.1:PORT (WHAT)"; ends on SIGTERM.
 */
#define _GNU_SOURCE
#include "common.h"
#include "listen.h"

#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 1024, LARGEST = 4096 };

struct connection {
  int fd; /* -1: closed, but still in the queue */
  bool waiting;
  int64_t due;
  ssize_t length;
  struct connection *next;
  char question[LARGEST];
};

static struct connection *first, *last;
static long long micros = 1000;

static void end(struct connection *c) {
  if (c->fd >= 0) close(c->fd);
  c->fd = -1;
  if (!c->waiting) free(c);
}

static void receive(struct connection *c) {
  char more;
  ssize_t n = c->waiting ? recv(c->fd, &more, 1, 0) : recv(c->fd, c->question, LARGEST, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0 || c->waiting) {
    end(c);
    return;
  }
  c->length = n;
  c->due = now_nanos() + micros * 1000;
  c->waiting = true;
  c->next = NULL;
  if (first == NULL)
    first = c;
  else
    last->next = c;
  last = c;
}

static void answer_due(void) {
  for (int64_t now = now_nanos(); first != NULL && first->due <= now;) {
    struct connection *c = first;
    first = c->next;
    c->waiting = false;
    if (c->fd < 0 || send(c->fd, c->question, (size_t)c->length, MSG_NOSIGNAL) != c->length) end(c);
  }
}

int main(int argc, char **argv) {
  long long wanted_port = 0;
  const struct option options[] = {{"--port", &wanted_port, NULL}, {"--micros", &micros, NULL}, {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "echo_delay [--port P] [--micros M]");
  if (wanted_port > 65535) die(2, "--port is at most 65535");
  raise_open_files();
  uint16_t port = (uint16_t)wanted_port;
  int listener = listen_on(&port), epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e) != 0) die(2, "epoll: %s", strerror(errno));
  printf("listening on 127.0.0.1:%d (C, epoll, answers after %lld us)\n", port, micros);
  fflush(stdout);
  static struct epoll_event events[EVENTS];
  for (;;) {
    int64_t left = first == NULL ? 0 : first->due - now_nanos();
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = left < 0 ? 0 : left};
    if (left >= 1000000000) timeout = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    int n = epoll_pwait2(epoll, events, EVENTS, first == NULL ? NULL : &timeout, NULL);
    if (n < 0 && errno != EINTR) die(2, "epoll_pwait2: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
      if (events[i].data.ptr != NULL) {
        receive(events[i].data.ptr);
        continue;
      }
      for (int fd; (fd = accept_one(listener)) >= 0;) {
        struct connection *c = calloc(1, sizeof *c);
        if (c == NULL) die(2, "out of memory");
        c->fd = fd;
        struct epoll_event in = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &in) != 0) die(2, "epoll_ctl: %s", strerror(errno));
      }
    }
    answer_due();
  }
}
