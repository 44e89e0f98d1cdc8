/* The processor time of the server and of the load itself, as the kernel accounts it. */
#ifndef MILLRACE_BENCH_CPU_H
#define MILLRACE_BENCH_CPU_H

#include "common.h"

#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

struct cpu {
  double total;            /* the process's clock, in ns: all threads, those that have ended too */
  double user, system;     /* /proc/PID/stat, in clock ticks: only the split is of use */
  long long switches;      /* voluntary ones, of the threads that live */
  double own_user, own_system;
};

static inline long long voluntary_switches(pid_t pid) {
  char path[64 + sizeof ((struct dirent *)0)->d_name];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return 0;
  long long sum = 0;
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, task->d_name);
    FILE *status = fopen(path, "r");
    if (status == NULL) continue; /* the thread has ended meanwhile */
    char line[256];
    long long n;
    while (fgets(line, sizeof line, status) != NULL)
      if (sscanf(line, "voluntary_ctxt_switches: %lld", &n) == 1) sum += n;
    fclose(status);
  }
  closedir(tasks);
  return sum;
}

/* pid 0: no server to look at, only the load itself. */
static inline struct cpu cpu_now(pid_t pid) {
  struct cpu cpu = {0};
  struct rusage own;
  getrusage(RUSAGE_SELF, &own);
  cpu.own_user = (double)own.ru_utime.tv_sec + (double)own.ru_utime.tv_usec / 1e6;
  cpu.own_system = (double)own.ru_stime.tv_sec + (double)own.ru_stime.tv_usec / 1e6;
  if (pid == 0) return cpu;

  clockid_t clock;
  struct timespec total;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &total) != 0)
    die(2, "no process %d: --pid must be the server's", (int)pid);
  cpu.total = (double)total.tv_sec + (double)total.tv_nsec / 1e9;

  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *stat = fopen(path, "r");
  unsigned long user, system;
  if (stat == NULL || fgets(line, sizeof line, stat) == NULL) die(2, "cannot read %s", path);
  fclose(stat);
  const char *name_end = strrchr(line, ')'); /* the name may hold blanks and brackets */
  if (name_end == NULL || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
    die(2, "cannot understand %s", path);
  double ticks = (double)sysconf(_SC_CLK_TCK);
  cpu.user = (double)user / ticks;
  cpu.system = (double)system / ticks;
  cpu.switches = voluntary_switches(pid);
  return cpu;
}

/* The difference, as members of a JSON object. */
static inline void cpu_print(const struct cpu *from, const struct cpu *to, pid_t pid) {
  if (pid == 0)
    printf("\"serverUserSeconds\":null,\"serverSystemSeconds\":null,\"serverCpuSeconds\":null,");
  else
    printf("\"serverUserSeconds\":%.3f,\"serverSystemSeconds\":%.3f,\"serverCpuSeconds\":%.6f,"
           "\"serverVoluntarySwitches\":%lld,\"clockTicksPerSecond\":%ld,",
           to->user - from->user, to->system - from->system, to->total - from->total, to->switches - from->switches,
           sysconf(_SC_CLK_TCK));
  printf("\"clientUserSeconds\":%.6f,\"clientSystemSeconds\":%.6f,", to->own_user - from->own_user,
         to->own_system - from->own_system);
}

#endif
