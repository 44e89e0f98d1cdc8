/*
 * A load of chat: so many members in one room, on one or several nodes. Each line that a member says must reach all of them, on every
 * node: whole, once, and in its sender's order.
 *
 * load_chat --ports P,P,... [--pids N,N,...] [--engine PID] [--members M] [--rate R] [--bytes B] [--seconds S] [--warmup W] [--one-order 0|1] [--hold 0|1]
 *   --ports, --pids   of the nodes; without pids their CPU is null
 *   --engine PID      what carries the lines between the nodes; its CPU is told apart
 *   --members M       on each node; each enters by a first line with its name
 *   --rate R          lines a second, said by all members in turn at fixed times, whatever comes back (open loop)
 *   --bytes B         of a line, without the name that the chat puts before it
 *   --seconds S, --warmup W   the window that is measured (2), and the load before it (1)
 *   --one-order 1     all members must see all lines in the same order, too
 *   --hold 1          all enter, the load prints "listening on 127.0.0.1:P (N members)", and nobody says anything until SIGTERM
 *
 * Latency: from the call that sent a line until a member has read it, for each line and each member.
 * A member is there when it has seen a line of another one: the load says some until all have. Lines of earlier runs, which a
 * chat may show to whoever enters, are passed over until then.
 * At the end everything that was said must arrive. One JSON object on stdout.
 * Exit status: 1 the chat was wrong (says who missed what), 2 usage, or the machine's limits.
 */
#define _GNU_SOURCE
#include "common.h"
#include "connect.h"
#include "content.h"
#include "cpu.h"
#include "histogram.h"

#include <sys/epoll.h>

enum { MOST_NODES = 64, EVENTS = 256, LONGEST_LINE = 2048, BUFFER = 64 * 1024, SHORTEST = 40 };
static const int64_t SECOND = 1000000000, PATIENCE = 30000000000, BETWEEN_PROBES = 20000000;

struct member {
  int fd;
  int held; /* bytes of the beginning of a line */
  char buffer[BUFFER];
  uint64_t said;      /* lines, from 1 */
  uint64_t *heard;    /* the last line of each member; UINT64_MAX: none yet */
  uint64_t probe;     /* the last one heard; 0: none */
  uint64_t order;     /* of all it has heard */
};

static long long members = 2, rate = 100, bytes = 64, seconds = 2, warmup = 1, engine, one_order, hold;
static const char *ports_text = "", *pids_text = "";
static long long ports[MOST_NODES], pids[MOST_NODES];
static int nodes, pid_count, total, epoll;
static unsigned run; /* tells this run's names from those of others */
static struct member *all;
static struct histogram latencies, lateness;
static uint64_t delivered, spoken, said_in_all, heard_in_all;
static enum { ENTERING, RUNNING } phase;

static int numbers(const char *text, long long *into) {
  int n = 0;
  for (const char *at = text; *at != '\0';) {
    char *end;
    if (n == MOST_NODES) die(2, "at most %d nodes", MOST_NODES);
    into[n] = strtoll(at, &end, 10);
    if (end == at || into[n] <= 0 || (*end != ',' && *end != '\0')) die(2, "not a list of numbers: %s", text);
    n++;
    at = *end == ',' ? end + 1 : end;
  }
  return n;
}

/* What a member says: its number, the time, and a filler that depends on both ends of it. Returns the length, without a line's end. */
static int text_of(char *into, int who, uint64_t number, int64_t time) {
  int n = sprintf(into, "%llu %lld ", (unsigned long long)number, (long long)time);
  const char *filler = content_at(who, number * 61);
  for (; n < bytes; n++) into[n] = (char)('a' + ((unsigned char)*filler++ & 15));
  return n;
}

static int name_of(char *into, int who) { return sprintf(into, "m%d-%x", who, run); }

static void say(int who, int64_t now) {
  struct member *m = &all[who];
  char line[LONGEST_LINE];
  int n = text_of(line, who, ++m->said, now);
  line[n++] = '\n';
  if (send(m->fd, line, (size_t)n, MSG_NOSIGNAL) != n)
    die(1, "member %d cannot say line %llu: %s", who, (unsigned long long)m->said, strerror(errno));
}

/* One line without its end. */
static void hear(int who, char *line, int length, int64_t now) {
  struct member *m = &all[who];
  line[length] = '\0';
  if (line[0] == '*') { /* about who comes and goes; anything else is bad news once it runs */
    if (phase == RUNNING && strstr(line, " joined, ") == NULL && strstr(line, " left, ") == NULL)
      die(1, "member %d was told: %s", who, line);
    return;
  }
  int from, at = 0;
  unsigned of;
  if (sscanf(line, "m%d-%x: %n", &from, &of, &at) != 2 || at == 0) die(1, "member %d got what is no line: %s", who, line);
  if (of != run) {
    if (phase == RUNNING) die(1, "member %d got a line of an earlier run: %s", who, line);
    return;
  }
  unsigned long long number;
  long long time;
  char expected[LONGEST_LINE];
  if (from < 0 || from >= total || sscanf(line + at, "%llu %lld ", &number, &time) != 2 ||
      text_of(expected, from, number, time) != length - at || memcmp(expected, line + at, (size_t)(length - at)) != 0)
    die(1, "member %d got a changed line: %s", who, line);
  if (m->heard[from] != UINT64_MAX && number != m->heard[from] + 1)
    die(1, "member %d got line %llu of member %d after its line %llu", who, number, from, (unsigned long long)m->heard[from]);
  m->heard[from] = number;
  if (phase == ENTERING) {
    m->probe = number;
    return;
  }
  m->order = m->order * UINT64_C(0x100000001b3) + (uint64_t)from * UINT64_C(0x9e3779b97f4a7c15) + number;
  heard_in_all++;
  delivered++;
  histogram_record(&latencies, now - time);
}

static void receive(int who) {
  struct member *m = &all[who];
  ssize_t n = recv(m->fd, m->buffer + m->held, (size_t)(BUFFER - m->held - 1), 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) die(1, "member %d: %s", who, n == 0 ? "the chat has closed its connection" : strerror(errno));
  int64_t now = now_nanos();
  char *begin = m->buffer, *end = m->buffer + m->held + n, *line_end;
  while ((line_end = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
    hear(who, begin, (int)(line_end - begin), now);
    begin = line_end + 1;
  }
  m->held = (int)(end - begin);
  if (m->held == BUFFER - 1) die(1, "member %d got a line of more than %d bytes", who, BUFFER);
  memmove(m->buffer, begin, (size_t)m->held);
}

/* Sleeps until then, or until something has come. */
static void pass(int64_t until) {
  struct epoll_event events[EVENTS];
  int64_t left = until - now_nanos();
  if (left < 0) left = 0;
  struct timespec timeout = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
  int n = epoll_pwait2(epoll, events, EVENTS, &timeout, NULL);
  if (n < 0 && errno != EINTR) die(2, "epoll_pwait2: %s", strerror(errno));
  for (int i = 0; i < n; i++) receive((int)events[i].data.u32);
}

static void enter_all(void) {
  all = calloc((size_t)total, sizeof *all);
  uint64_t *heard = malloc((size_t)total * (size_t)total * sizeof *heard);
  if (all == NULL || heard == NULL) die(2, "no memory for %d members", total);
  memset(heard, 0xff, (size_t)total * (size_t)total * sizeof *heard);
  for (int i = 0; i < total; i++) {
    struct member *m = &all[i];
    m->heard = heard + (size_t)i * (size_t)total;
    m->fd = connect_to(ports[i % nodes], i);
    struct epoll_event event = {.events = EPOLLOUT, .data.u32 = (uint32_t)i};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, m->fd, &event) != 0) die(2, "epoll_ctl: %s", strerror(errno));
    struct epoll_event connected;
    int failure = 0;
    socklen_t size = sizeof failure;
    if (epoll_wait(epoll, &connected, 1, 10000) != 1 || getsockopt(m->fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0)
      die(1, "member %d cannot connect to 127.0.0.1:%lld: %s", i, ports[i % nodes], failure != 0 ? strerror(failure) : "no answer");
    event.events = 0; /* until all are connected */
    epoll_ctl(epoll, EPOLL_CTL_MOD, m->fd, &event);
    char name[64];
    int n = name_of(name, i);
    name[n++] = '\n';
    if (send(m->fd, name, (size_t)n, MSG_NOSIGNAL) != n) die(1, "member %d cannot enter: %s", i, strerror(errno));
  }
  for (int i = 0; i < total; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    epoll_ctl(epoll, EPOLL_CTL_MOD, all[i].fd, &event);
  }
  int64_t end = now_nanos() + PATIENCE, next = now_nanos() + BETWEEN_PROBES;
  for (int there = 0; there < total;) {
    pass(next);
    int64_t now = now_nanos();
    there = 0;
    for (int i = 0; i < total; i++) there += all[i].probe > 0;
    if (now >= end) die(1, "%d of %d members have not heard the first one within 30 s", total - there, total);
    if (there < total && now >= next) {
      say(0, now);
      next = now + BETWEEN_PROBES;
    }
  }
  for (int i = 0; i < total; i++) /* what was said on the way must not be counted with the rest */
    while (all[i].probe < all[0].said) {
      pass(end);
      if (now_nanos() >= end) die(1, "member %d has not heard line %llu of the first one within 30 s", i, (unsigned long long)all[0].said);
    }
  for (int i = 0; i < total; i++)
    for (int j = 1; j < total; j++) all[i].heard[j] = 0;
}

static int64_t begin_of_rate;

static void run_until(int64_t end) {
  for (;;) {
    int64_t now = now_nanos();
    if (now >= end) return;
    int64_t due = begin_of_rate + (int64_t)((double)said_in_all * 1e9 / (double)rate);
    if (due <= now) {
      say((int)(said_in_all++ % (uint64_t)total), now);
      spoken++;
      histogram_record(&lateness, now - due);
    } else {
      pass(due < end ? due : end);
    }
  }
}

static struct cpu cpu_of_nodes(void) {
  struct cpu sum = cpu_now(0);
  for (int i = 0; i < pid_count; i++) {
    if (!cpu_add(&sum, (pid_t)pids[i])) die(2, "no process %lld: --pids must be those of the nodes", pids[i]);
    cpu_add_children(&sum, (pid_t)pids[i]);
  }
  return sum;
}

static double resident_bytes(void) {
  double sum = 0;
  for (int i = 0; i < pid_count; i++) {
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%lld/statm", pids[i]);
    FILE *statm = fopen(path, "r");
    if (statm != NULL && fscanf(statm, "%*d %ld", &pages) == 1) sum += (double)pages * (double)sysconf(_SC_PAGESIZE);
    if (statm != NULL) fclose(statm);
  }
  return pid_count == 0 ? 0 : sum / pid_count;
}

int main(int argc, char **argv) {
  const char *usage = "load_chat --ports P,P,... [--pids N,N,...] [--engine PID] [--members M] ...: see the top of bench/native/load_chat.c";
  const struct option options[] = {
      {"--ports", NULL, &ports_text}, {"--pids", NULL, &pids_text},    {"--engine", &engine, NULL},
      {"--members", &members, NULL},  {"--rate", &rate, NULL},         {"--bytes", &bytes, NULL},
      {"--seconds", &seconds, NULL},  {"--warmup", &warmup, NULL},     {"--one-order", &one_order, NULL},
      {"--hold", &hold, NULL},        {NULL, NULL, NULL}};
  parse_options(argc, argv, options, usage);
  nodes = numbers(ports_text, ports);
  pid_count = numbers(pids_text, pids);
  total = (int)(nodes * members);
  if (nodes == 0 || members < 1 || rate < 1 || seconds < 1) die(2, "at least one node, member, line and second\n%s", usage);
  if (bytes < SHORTEST || bytes > 1000) die(2, "--bytes is from %d to 1000, not %lld", SHORTEST, bytes);
  if (total > raise_open_files() - 20) die(2, "%d members are more than the limit on open files allows (ulimit -Hn)", total);
  content_fill();
  run = (unsigned)getpid();
  epoll = epoll_create1(0);

  enter_all();
  if (hold) {
    printf("listening on 127.0.0.1:%lld (%d members)\n", ports[0], total);
    fflush(stdout);
    for (;;) pass(now_nanos() + SECOND);
  }
  phase = RUNNING;
  begin_of_rate = now_nanos();
  run_until(begin_of_rate + warmup * SECOND);

  struct cpu cpu_begin = cpu_of_nodes(), cpu_end, engine_begin = {0}, engine_end = {0};
  if (engine != 0 && !cpu_add(&engine_begin, (pid_t)engine)) die(2, "no process %lld: --engine must be the engine's", engine);
  delivered = spoken = 0;
  histogram_reset(&latencies);
  histogram_reset(&lateness);
  int64_t begin = now_nanos();
  run_until(begin + seconds * SECOND);
  double took = (double)(now_nanos() - begin) / 1e9;
  cpu_end = cpu_of_nodes();
  if (engine != 0) cpu_add(&engine_end, (pid_t)engine);
  uint64_t counted = delivered, said = spoken;
  static struct histogram measured;
  measured = latencies;

  int64_t end = now_nanos() + PATIENCE;
  while (heard_in_all < said_in_all * (uint64_t)total) {
    pass(end);
    if (now_nanos() >= end)
      die(1, "%llu of %llu lines have not arrived within 30 s", (unsigned long long)(said_in_all * (uint64_t)total - heard_in_all),
          (unsigned long long)(said_in_all * (uint64_t)total));
  }
  for (int i = 1; one_order && i < total; i++)
    if (all[i].order != all[0].order) die(1, "member %d has heard the lines in another order than member 0", i);
  if (counted == 0) die(1, "no line arrived within the %lld s that were measured", seconds);

  printf("{\"nodes\":%d,\"members\":%lld,\"messages\":%llu,\"published\":%llu,\"seconds\":%.6f,\"messagesPerSecond\":%.1f,", nodes,
         members, (unsigned long long)counted, (unsigned long long)said, took, (double)counted / took);
  printf("\"p50us\":%.3f,\"p99us\":%.3f,\"maxus\":%.3f,\"lateP99us\":%.3f,", (double)histogram_percentile(&measured, 50) / 1e3,
         (double)histogram_percentile(&measured, 99) / 1e3, (double)measured.max / 1e3,
         (double)histogram_percentile(&lateness, 99) / 1e3);
  cpu_print(&cpu_begin, &cpu_end, pid_count == 0 ? 0 : (pid_t)pids[0]);
  if (engine != 0) printf("\"engineCpuSeconds\":%.6f,", engine_end.total - engine_begin.total);
  if (pid_count > 0) printf("\"residentBytes\":%.0f,", resident_bytes());
  printf("\"rate\":%lld,\"bytes\":%lld}\n", rate, bytes);
  return 0;
}
