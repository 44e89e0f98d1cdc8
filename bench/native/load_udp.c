/*
 * A load of datagrams: so many sockets, each with so many datagrams under way. One that does not come back within a tenth of a
 * second is sent anew, and counted as lost. Sends and receives in batches, so that the load is cheaper than what it measures.
 *
 * load_udp --port P --pid PID --connections N --depth D --bytes B --seconds S --warmup S
 * Prints one JSON object.
 */
#define _GNU_SOURCE
#include "common.h"
#include "cpu.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { MOST = 64 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct peer {
  int fd, under_way;
  double last;
};

static struct mmsghdr messages[MOST];
static struct iovec parts[MOST];
static char bytes[65536];

static void send_some(struct peer *p, int count, size_t length) {
  for (int i = 0; i < count; i++) {
    parts[i] = (struct iovec){.iov_base = bytes, .iov_len = length};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
  }
  int n = sendmmsg(p->fd, messages, (unsigned)count, 0);
  p->under_way += n > 0 ? n : 0;
  p->last = now();
}

int main(int argc, char **argv) {
  long long port = 0, pid = 0, connections = 1, depth = 1, length = 64, seconds = 1, warmup = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    long long value = atoll(argv[i + 1]);
    if (strcmp(argv[i], "--port") == 0) port = value;
    else if (strcmp(argv[i], "--pid") == 0) pid = value;
    else if (strcmp(argv[i], "--connections") == 0) connections = value;
    else if (strcmp(argv[i], "--depth") == 0) depth = value;
    else if (strcmp(argv[i], "--bytes") == 0) length = value;
    else if (strcmp(argv[i], "--seconds") == 0) seconds = value;
    else if (strcmp(argv[i], "--warmup") == 0) warmup = value;
    else die(2, "load_udp: no option %s", argv[i]);
  }
  if (depth < 1 || depth > MOST || length > (long long)sizeof bytes) die(2, "--depth is 1 to %d", MOST);
  int epoll = epoll_create1(0);
  struct peer *peers = calloc((size_t)connections, sizeof *peers);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (long long i = 0; i < connections; i++) {
    peers[i].fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &peers[i]};
    if (peers[i].fd < 0 || connect(peers[i].fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, peers[i].fd, &event) != 0)
      die(2, "cannot connect: %s", strerror(errno));
    send_some(&peers[i], (int)depth, (size_t)length);
  }
  static char sink[MOST][65536];
  long long came = 0, lost = 0;
  double begin = 0, end = now() + (double)warmup;
  struct cpu from = {0}, to;
  bool measuring = false;
  for (double looked = now();;) {
    struct epoll_event events[256];
    int n = epoll_wait(epoll, events, 256, 50);
    double t = now();
    if (t >= end) {
      if (measuring) break;
      measuring = true;
      came = lost = 0;
      begin = t;
      end = t + (double)seconds;
      from = cpu_now((pid_t)pid);
    }
    for (int i = 0; i < n; i++) {
      struct peer *p = events[i].data.ptr;
      for (int j = 0; j < MOST; j++) {
        parts[j] = (struct iovec){.iov_base = sink[j], .iov_len = sizeof sink[j]};
        messages[j].msg_hdr = (struct msghdr){.msg_iov = &parts[j], .msg_iovlen = 1};
      }
      int got = recvmmsg(p->fd, messages, MOST, 0, NULL);
      if (got <= 0) continue;
      for (int j = 0; j < got; j++)
        if (messages[j].msg_len != length) die(1, "a datagram came back with %u bytes", messages[j].msg_len);
      came += got;
      p->under_way -= got;
      if (p->under_way < 0) p->under_way = 0; /* one that was given up came after all */
      send_some(p, (int)(depth - p->under_way), (size_t)length);
    }
    if (t - looked > 0.1) {
      looked = t;
      for (long long i = 0; i < connections; i++)
        if (t - peers[i].last > 0.1) {
          lost += peers[i].under_way;
          peers[i].under_way = 0;
          send_some(&peers[i], (int)depth, (size_t)length);
        }
    }
  }
  to = cpu_now((pid_t)pid);
  double took = now() - begin;
  printf("{\"messages\":%lld,\"lost\":%lld,\"messagesPerSecond\":%.1f,", came, lost, (double)came / took);
  cpu_print(&from, &to, (pid_t)pid);
  printf("\"seconds\":%.3f}\n", took);
  return 0;
}
