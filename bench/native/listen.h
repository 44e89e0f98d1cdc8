/* The listening socket of a server in C, and what its loop reads with. */
#ifndef MILLRACE_BENCH_LISTEN_H
#define MILLRACE_BENCH_LISTEN_H

#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* A buffer begins at a page: some processors copy slowly between a page and memory 16 bytes off another. */
enum { PAGE = 4096 };

/* Not blocking; others may listen on the same port, and the kernel chooses one for port 0. Accepted sockets inherit TCP_NODELAY. */
static inline int listen_on(uint16_t *port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 4096) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &length) != 0)
    die(2, "cannot listen on 127.0.0.1:%d: %s", *port, strerror(errno));
  *port = ntohs(address.sin_port);
  return fd;
}

/* Accepts one connection, not blocking; -1 if there is none. */
static inline int accept_one(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 || errno == EAGAIN) return fd;
    if (errno != ECONNABORTED && errno != EINTR)
      die(2, "accept: %s%s", strerror(errno), errno == EMFILE ? "; raise the limit: ulimit -n" : "");
  }
}

/* How much is read at once, from --buffer KIB. */
static inline uint32_t buffer_bytes(long long kib) {
  if (kib < 4 || kib > 16384 || kib % 4 != 0) die(2, "--buffer is 4 to 16384, a multiple of 4");
  return (uint32_t)kib * 1024;
}

#endif
