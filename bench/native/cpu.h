/* The processor time of the server, its children included, and of the load itself, as the kernel accounts it. */
#ifndef MILLRACE_BENCH_CPU_H
#define MILLRACE_BENCH_CPU_H

#include "common.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

struct cpu {
  double total;            /* the processes' clocks, in ns: all threads, those that have ended too; ended children in ticks */
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

/* Adds one process with the children that it has waited for; false if there is no such process. */
static inline bool cpu_add(struct cpu *cpu, pid_t pid) {
  clockid_t clock;
  struct timespec total;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &total) != 0) return false;

  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *stat = fopen(path, "r");
  if (stat == NULL) return false;
  unsigned long user, system, ended_user, ended_system;
  const char *read = fgets(line, sizeof line, stat);
  fclose(stat);
  if (read == NULL) return false;
  const char *name_end = strrchr(line, ')'); /* the name may hold blanks and brackets */
  if (name_end == NULL || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &user, &system,
                                 &ended_user, &ended_system) != 4)
    die(2, "cannot understand %s", path);
  double ticks = (double)sysconf(_SC_CLK_TCK);
  cpu->total += (double)total.tv_sec + (double)total.tv_nsec / 1e9 + (double)(ended_user + ended_system) / ticks;
  cpu->user += (double)(user + ended_user) / ticks;
  cpu->system += (double)(system + ended_system) / ticks;
  cpu->switches += voluntary_switches(pid);
  return true;
}

/* Adds the children that live, and theirs: a server may have a process for each connection. */
static inline void cpu_add_children(struct cpu *cpu, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
  FILE *children = fopen(path, "r");
  if (children == NULL) return; /* it has ended meanwhile, or the kernel does not tell */
  for (int child; fscanf(children, "%d", &child) == 1;)
    if (cpu_add(cpu, child)) cpu_add_children(cpu, child);
  fclose(children);
}

/* pid 0: no server to look at, only the load itself. */
static inline struct cpu cpu_now(pid_t pid) {
  struct cpu cpu = {0};
  struct rusage own;
  getrusage(RUSAGE_SELF, &own);
  cpu.own_user = (double)own.ru_utime.tv_sec + (double)own.ru_utime.tv_usec / 1e6;
  cpu.own_system = (double)own.ru_stime.tv_sec + (double)own.ru_stime.tv_usec / 1e6;
  if (pid == 0) return cpu;
  if (!cpu_add(&cpu, pid)) die(2, "no process %d: --pid must be the server's", (int)pid);
  cpu_add_children(&cpu, pid);
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
