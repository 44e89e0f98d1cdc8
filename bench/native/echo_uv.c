/*
 * An echo server on libuv, as its guide would have it, with the two savings that its users know: one read buffer for all
 * connections of a loop, and uv_try_write first, so that a message needs neither a request nor a copy. What the socket
 * does not take is copied and written by uv_write; until that is done the connection is not read.
 *
 * echo_uv [--port P] [--loops N]
 *   --port P   0, the default: the kernel chooses
 *   --loops N  N threads, each with a uv_loop_t and a listening socket of its own (SO_REUSEPORT)
 * libuv cannot spin before it blocks, so there is no --spin.
 * Prints "listening on 127.0.0.1:PORT (WHAT)"; ends on SIGTERM.
 */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <uv.h>

enum { BUFFER = 64 * 1024 };

struct server {
  uv_loop_t loop;
  uv_tcp_t listener;
  char buffer[BUFFER];
};

struct connection {
  uv_tcp_t tcp;
  uv_write_t write; /* one at a time: nothing is read meanwhile */
  char *rest;
};

static void read_some(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer);

static void must(int status, const char *what) {
  if (status != 0) die(2, "%s: %s", what, uv_strerror(status));
}

static void closed(uv_handle_t *handle) {
  struct connection *c = handle->data;
  free(c->rest);
  free(c);
}

static void close_connection(struct connection *c) {
  if (!uv_is_closing((uv_handle_t *)&c->tcp)) uv_close((uv_handle_t *)&c->tcp, closed);
}

static void lend_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  (void)suggested;
  *buffer = uv_buf_init(((struct server *)handle->loop->data)->buffer, BUFFER);
}

static void written(uv_write_t *request, int status) {
  struct connection *c = request->handle->data;
  if (status != 0 || uv_read_start(request->handle, lend_buffer, read_some) != 0) close_connection(c);
}

static void write_rest(struct connection *c, const char *bytes, size_t length) {
  uv_stream_t *stream = (uv_stream_t *)&c->tcp;
  if (c->rest == NULL && (c->rest = malloc(BUFFER)) == NULL) die(2, "out of memory");
  memcpy(c->rest, bytes, length);
  uv_buf_t rest = uv_buf_init(c->rest, (unsigned)length);
  uv_read_stop(stream);
  if (uv_write(&c->write, stream, &rest, 1, written) != 0) close_connection(c);
}

static void read_some(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer) {
  struct connection *c = stream->data;
  if (n == 0) return; /* EAGAIN */
  if (n < 0) {
    close_connection(c);
    return;
  }
  uv_buf_t echo = uv_buf_init(buffer->base, (unsigned)n);
  int sent = uv_try_write(stream, &echo, 1);
  if (sent == UV_EAGAIN) sent = 0;
  if (sent < 0)
    close_connection(c);
  else if (sent < n)
    write_rest(c, buffer->base + sent, (size_t)(n - sent));
}

static void accept_one(uv_stream_t *listener, int status) {
  must(status, "accept");
  struct connection *c = calloc(1, sizeof *c);
  if (c == NULL) die(2, "out of memory");
  c->tcp.data = c;
  must(uv_tcp_init(listener->loop, &c->tcp), "uv_tcp_init");
  if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0 || uv_tcp_nodelay(&c->tcp, 1) != 0 ||
      uv_read_start((uv_stream_t *)&c->tcp, lend_buffer, read_some) != 0)
    close_connection(c);
}

static struct server *open_server(uint16_t *port) {
  struct server *s = calloc(1, sizeof *s);
  if (s == NULL) die(2, "out of memory");
  must(uv_loop_init(&s->loop), "uv_loop_init");
  s->loop.data = s;
  must(uv_tcp_init_ex(&s->loop, &s->listener, AF_INET), "uv_tcp_init_ex");
  int on = 1;
  uv_os_fd_t fd;
  must(uv_fileno((uv_handle_t *)&s->listener, &fd), "uv_fileno");
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) die(2, "SO_REUSEPORT: %s", strerror(errno));
  struct sockaddr_in address;
  int length = sizeof address;
  must(uv_ip4_addr("127.0.0.1", *port, &address), "uv_ip4_addr");
  must(uv_tcp_bind(&s->listener, (struct sockaddr *)&address, 0), "bind");
  must(uv_listen((uv_stream_t *)&s->listener, 4096, accept_one), "listen");
  must(uv_tcp_getsockname(&s->listener, (struct sockaddr *)&address, &length), "getsockname");
  *port = ntohs(address.sin_port);
  return s;
}

static void run(void *argument) {
  uv_run(&((struct server *)argument)->loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv) {
  long long wanted_port = 0, loops = 1;
  const struct option options[] = {{"--port", &wanted_port, NULL}, {"--loops", &loops, NULL}, {NULL, NULL, NULL}};
  parse_options(argc, argv, options, "echo_uv [--port P] [--loops N]");
  if (wanted_port > 65535 || loops < 1 || loops > 64) die(2, "--port is at most 65535, --loops 1 to 64");
  signal(SIGPIPE, SIG_IGN);
  raise_open_files();
  uint16_t port = (uint16_t)wanted_port;
  struct server *all[64];
  for (int i = 0; i < loops; i++) all[i] = open_server(&port);
  printf("listening on 127.0.0.1:%d (libuv %s, %lld loops with SO_REUSEPORT)\n", port, uv_version_string(), loops);
  fflush(stdout);
  for (int i = 1; i < loops; i++) {
    uv_thread_t thread;
    must(uv_thread_create(&thread, run, all[i]), "uv_thread_create");
  }
  run(all[0]);
}
