/*
 * Opens the client's side of a connection. Every 1,024 of them get a source address of their own, 127.0.0.1, 127.0.0.2 and so
 * on: the kernel searches for a free port at each connect(2), and with 18,000 taken at one address that takes 0.3 ms.
 */
#ifndef MILLRACE_BENCH_CONNECT_H
#define MILLRACE_BENCH_CONNECT_H

#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { OF_ONE_ADDRESS = 1024 };

/* Returns the socket, not blocking, TCP_NODELAY on; it may not be connected yet. */
static inline int connect_to(long long port, long long number) {
  int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(number / OF_ONE_ADDRESS));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0 ||
      (number >= OF_ONE_ADDRESS && bind(fd, (struct sockaddr *)&from, sizeof from) != 0))
    die(2, "connection %lld: socket: %s", number, strerror(errno));
  if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
    die(1, "connection %lld: cannot connect to 127.0.0.1:%lld: %s", number, port, strerror(errno));
  return fd;
}

#endif
