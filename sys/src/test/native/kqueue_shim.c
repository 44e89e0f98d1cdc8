/*
 * Copyright the Millrace authors. SPDX-License-Identifier: Apache-2.0
 *
 * A kqueue for Linux over epoll: as much of it as KqueueSelector uses, so that the selector can be tested here. Not for
 * production. Compile with: gcc -shared -fPIC -O2 -pthread -o libkqueue_shim.so kqueue_shim.c
 *
 * - struct kevent as in libkqueue: 32 bytes, EVFILT_USER is -11; with -DMACOS or -DFREEBSD as there.
 * - A kqueue is one epoll descriptor, so that close(2) frees it. Its memory is freed when its number comes back.
 * - epoll takes a descriptor once, a kqueue has two filters on it: EVFILT_WRITE watches a dup. EV_DELETE closes the dup.
 * - EV_CLEAR is EPOLLET, EV_DISPATCH is EPOLLONESHOT. As on FreeBSD, EV_ADD of a filter that exists evaluates it again and
 *   changes udata, but keeps the flags.
 * - EVFILT_USER needs no descriptor per kqueue: all share one eventfd that is always readable. A trigger asks epoll for it
 *   as EPOLLONESHOT; the report disables it again, and that is EV_CLEAR.
 * - Flags that are not emulated are refused with EINVAL, so that none is ignored silently.
 * - data, the number of bytes to read or write, stays 0. fflags of a broken socket is not its true error: on Linux, asking
 *   for that would take it away from the owner.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef MACOS
enum { EVFILT_USER = -10 };
#else
enum { EVFILT_USER = -11 };
#endif
enum { EVFILT_READ = -1, EVFILT_WRITE = -2 };
enum { EV_ADD = 0x1, EV_DELETE = 0x2, EV_CLEAR = 0x20, EV_RECEIPT = 0x40, EV_DISPATCH = 0x80 };
enum { EV_ERROR = 0x4000, EV_EOF = 0x8000, NOTE_TRIGGER = 0x01000000 };
enum { MAX_QUEUES = 1 << 16, MAX_BATCH = 256, KEPT_FLAGS = EV_CLEAR | EV_DISPATCH };
enum { FIRST_DUP = 512 }; /* above the numbers that a test may expect to be reused */

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
#ifdef FREEBSD
    uint64_t ext[4];
#endif
};

/* A filter. Its serial number travels through epoll and tells a late event of a filter that was deleted. */
struct knote {
    uint32_t serial; /* 0: there is none */
    int watched;     /* the descriptor, or its dup */
    uint16_t flags;
    void *udata;
};

struct queue {
    int fd;
    pthread_mutex_t lock;
    uint32_t last_serial;
    int has_user;
    uintptr_t user_ident;
    uint16_t user_flags;
    void *user_udata;
    size_t capacity; /* descriptors; each has two knotes: read, write */
    struct knote *knotes;
};

static const uint64_t USER = UINT64_MAX;
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues[MAX_QUEUES];
static int always_readable = -1;

static void discard(struct queue *q) {
    for (size_t i = 0; q != NULL && i < q->capacity; i++) {
        if (q->knotes[2 * i + 1].serial != 0) {
            close(q->knotes[2 * i + 1].watched);
        }
    }
    if (q != NULL) {
        pthread_mutex_destroy(&q->lock);
        free(q->knotes);
        free(q);
    }
}

int kqueue(void) {
    struct queue *q = calloc(1, sizeof *q);
    int fd = epoll_create1(0);
    if (q == NULL || fd < 0 || fd >= MAX_QUEUES) {
        int error = fd < 0 ? errno : q == NULL ? ENOMEM : EMFILE;
        free(q);
        if (fd >= 0) {
            close(fd);
        }
        errno = error;
        return -1;
    }
    q->fd = fd;
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_lock(&queues_lock);
    if (always_readable < 0) {
        always_readable = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    discard(queues[fd]);
    queues[fd] = q;
    pthread_mutex_unlock(&queues_lock);
    return fd;
}

static struct queue *find_queue(int fd) {
    pthread_mutex_lock(&queues_lock);
    struct queue *q = fd >= 0 && fd < MAX_QUEUES ? queues[fd] : NULL;
    pthread_mutex_unlock(&queues_lock);
    return q;
}

static int epoll(struct queue *q, int op, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return epoll_ctl(q->fd, op, fd, &event) < 0 ? errno : 0;
}

/* The control functions return 0 or an errno; all are called under the queue's lock. */

static int change_user(struct queue *q, const struct kevent *change) {
    int error = 0;
    if ((change->flags & ~(EV_ADD | EV_CLEAR | EV_RECEIPT)) != 0) {
        return EINVAL;
    }
    if ((change->flags & EV_ADD) != 0 && !q->has_user) {
        if ((change->flags & EV_CLEAR) == 0) {
            return EINVAL;
        }
        error = epoll(q, EPOLL_CTL_ADD, always_readable, EPOLLONESHOT, USER);
        q->has_user = error == 0;
        q->user_ident = change->ident;
        q->user_flags = change->flags & KEPT_FLAGS;
        q->user_udata = change->udata;
    }
    if (!q->has_user || q->user_ident != change->ident) {
        return error != 0 ? error : ENOENT;
    }
    if ((change->fflags & NOTE_TRIGGER) != 0) {
        error = epoll(q, EPOLL_CTL_MOD, always_readable, EPOLLIN | EPOLLONESHOT, USER);
    }
    return error;
}

static struct knote *find_knote(struct queue *q, uintptr_t fd, int filter) {
    if (fd >= q->capacity) {
        size_t capacity = fd + 64;
        struct knote *larger = realloc(q->knotes, capacity * 2 * sizeof *larger);
        if (larger == NULL) {
            return NULL;
        }
        memset(larger + 2 * q->capacity, 0, (capacity - q->capacity) * 2 * sizeof *larger);
        q->knotes = larger;
        q->capacity = capacity;
    }
    return &q->knotes[2 * fd + (filter == EVFILT_WRITE)];
}

static uint64_t data_of(const struct knote *note, uintptr_t fd, int filter) {
    return (uint64_t) note->serial << 32 | fd << 1 | (filter == EVFILT_WRITE);
}

static uint32_t events_of(const struct knote *note, int filter) {
    return (filter == EVFILT_WRITE ? EPOLLOUT : EPOLLIN | EPOLLRDHUP)
            | ((note->flags & EV_CLEAR) != 0 ? (uint32_t) EPOLLET : 0)
            | ((note->flags & EV_DISPATCH) != 0 ? (uint32_t) EPOLLONESHOT : 0);
}

static void forget(struct knote *note, int filter) {
    if (filter == EVFILT_WRITE) {
        close(note->watched);
    }
    note->serial = 0;
}

static int add(struct queue *q, struct knote *note, const struct kevent *change) {
    int fd = (int) change->ident;
    note->udata = change->udata;
    if (note->serial != 0) {
        return epoll(q, EPOLL_CTL_MOD, note->watched, events_of(note, change->filter),
                data_of(note, change->ident, change->filter));
    }
    note->watched = change->filter == EVFILT_WRITE ? fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DUP) : fd;
    if (note->watched < 0) {
        return errno;
    }
    note->flags = change->flags & KEPT_FLAGS;
    q->last_serial = q->last_serial == UINT32_MAX - 1 ? 1 : q->last_serial + 1;
    note->serial = q->last_serial;
    int error = epoll(q, EPOLL_CTL_ADD, note->watched, events_of(note, change->filter),
            data_of(note, change->ident, change->filter));
    if (error != 0) {
        forget(note, change->filter);
    }
    return error;
}

static int change_filter(struct queue *q, const struct kevent *change) {
    int adds = (change->flags & EV_ADD) != 0;
    int deletes = (change->flags & EV_DELETE) != 0;
    if ((change->filter != EVFILT_READ && change->filter != EVFILT_WRITE) || adds == deletes
            || (change->flags & ~(EV_ADD | EV_DELETE | EV_RECEIPT | KEPT_FLAGS)) != 0) {
        return EINVAL;
    }
    int closed = change->ident > INT_MAX || fcntl((int) change->ident, F_GETFD) < 0;
    struct knote *note = closed && change->ident >= q->capacity ? NULL : find_knote(q, change->ident, change->filter);
    if (note == NULL) {
        return closed ? EBADF : ENOMEM;
    }
    if (adds) {
        return closed ? EBADF : add(q, note, change);
    }
    if (note->serial == 0) {
        return closed ? EBADF : ENOENT;
    }
    epoll(q, EPOLL_CTL_DEL, note->watched, 0, 0); /* fails if the descriptor was closed: then epoll has dropped it */
    forget(note, change->filter);
    return closed ? EBADF : 0;
}

/* Copies an event out if its filter still exists; under the queue's lock. */
static int report(struct queue *q, const struct epoll_event *ready, struct kevent *out) {
    if (ready->data.u64 == USER) {
        *out = (struct kevent) {.ident = q->user_ident, .filter = EVFILT_USER, .flags = q->user_flags,
                .udata = q->user_udata};
        return 1;
    }
    uint32_t low = (uint32_t) ready->data.u64;
    struct knote *note = &q->knotes[low];
    if (note->serial != ready->data.u64 >> 32) {
        return 0;
    }
    int write = low & 1;
    uint32_t ends = write ? EPOLLHUP | EPOLLERR : EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    *out = (struct kevent) {.ident = low >> 1, .filter = write ? EVFILT_WRITE : EVFILT_READ, .flags = note->flags,
            .udata = note->udata};
    if ((ready->events & ends) != 0) {
        int type;
        socklen_t size = sizeof type;
        out->flags |= EV_EOF;
        if ((ready->events & EPOLLERR) != 0 && getsockopt(note->watched, SOL_SOCKET, SO_TYPE, &type, &size) == 0) {
            out->fflags = ECONNRESET;
        }
    }
    return 1;
}

static int wait_for(struct queue *q, struct epoll_event *ready, int max, const struct timespec *timeout) {
    int found = epoll_pwait2(q->fd, ready, max, timeout, NULL);
    if (found < 0 && errno == ENOSYS) { /* before Linux 5.11: milliseconds, rounded up */
        int64_t millis = timeout == NULL ? -1 : timeout->tv_sec * 1000LL + (timeout->tv_nsec + 999999) / 1000000;
        found = epoll_wait(q->fd, ready, max, millis > INT_MAX ? INT_MAX : (int) millis);
    }
    return found;
}

int kevent(int kq, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
        const struct timespec *timeout) {
    struct queue *q = find_queue(kq);
    if (q == NULL) {
        errno = EBADF;
        return -1;
    }
    int count = 0;
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < change_count; i++) {
        struct kevent change = changes[i]; /* a copy: events may be the same memory */
        int error = change.filter == EVFILT_USER ? change_user(q, &change) : change_filter(q, &change);
        if (error == 0 && (change.flags & EV_RECEIPT) == 0) {
            continue;
        }
        if (count == event_count) {
            pthread_mutex_unlock(&q->lock);
            errno = error;
            return error == 0 ? count : -1;
        }
        change.flags = EV_ERROR;
        change.data = error;
        events[count++] = change;
    }
    pthread_mutex_unlock(&q->lock);
    if (count > 0 || event_count == 0) {
        return count;
    }
    struct epoll_event ready[MAX_BATCH];
    int found = wait_for(q, ready, event_count < MAX_BATCH ? event_count : MAX_BATCH, timeout);
    if (found < 0) {
        return -1;
    }
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < found; i++) {
        count += report(q, &ready[i], &events[count]);
    }
    pthread_mutex_unlock(&q->lock);
    return count; /* 0 before the timeout if all that was found has just been deleted: callers cope with that */
}
