/*
 * An echo server for datagrams with recvmmsg and sendmmsg, by hand: the yardstick of the UDP figures.
 *
 * One thread blocks in epoll_wait, as a server does that has other work, then receives up to BATCH datagrams with one call
 * and sends them back with one, until a batch is not full.
 *
 * echo_udp [--port P]
 * Prints "listening on 127.0.0.1:PORT (WHAT)"; ends on SIGTERM.
 */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 32, LONGEST = 65536 };

int main(int argc, char **argv) {
  uint16_t port = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--port") != 0) die(2, "echo_udp [--port P]");
    port = (uint16_t)atoi(argv[i + 1]);
  }
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &length) != 0)
    die(2, "cannot receive on 127.0.0.1:%d: %s", port, strerror(errno));
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) die(2, "epoll: %s", strerror(errno));

  static struct mmsghdr messages[BATCH];
  static struct iovec parts[BATCH];
  static struct sockaddr_in peers[BATCH];
  char *bytes = malloc((size_t)BATCH * (LONGEST + 64)); /* not all at the same place of the cache */
  if (bytes == NULL) die(2, "out of memory");
  printf("listening on 127.0.0.1:%d (C, recvmmsg and sendmmsg)\n", ntohs(address.sin_port));
  fflush(stdout);

  for (;;) {
    if (epoll_wait(epoll, &event, 1, -1) < 0 && errno != EINTR) die(2, "epoll_wait: %s", strerror(errno));
    int got;
    do {
      for (int i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){.iov_base = bytes + (size_t)i * (LONGEST + 64), .iov_len = LONGEST};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &peers[i], .msg_namelen = sizeof peers[i], .msg_iov = &parts[i], .msg_iovlen = 1};
      }
      got = recvmmsg(fd, messages, BATCH, 0, NULL);
      if (got < 0 && errno != EAGAIN && errno != EINTR) die(2, "recvmmsg: %s", strerror(errno));
      for (int i = 0; i < got; i++) parts[i].iov_len = messages[i].msg_len;
      for (int sent = 0; sent < got;) {
        int n = sendmmsg(fd, messages + sent, (unsigned)(got - sent), 0);
        sent += n > 0 ? n : 1; /* one that cannot be sent is lost, as datagrams are */
      }
    } while (got == BATCH);
  }
}
