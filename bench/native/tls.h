/*
 * The client's side of TLS for the load generator, by OpenSSL: TLS 1.3, one cipher and one group for everybody, so that no server
 * is measured with another one's. The certificate is not looked up in any trust; that its owner has the key is verified.
 */
#ifndef MILLRACE_BENCH_TLS_H
#define MILLRACE_BENCH_TLS_H

#include "common.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/types.h>

#define TLS_CIPHER "TLS_AES_128_GCM_SHA256"
#define TLS_GROUP "X25519"

struct tls {
  SSL *ssl;
  SSL_SESSION *session; /* of the last connection, for the next one of this slot */
  bool up;              /* the handshake is complete */
};

static SSL_CTX *tls_context;

static inline void tls_die(int status, const char *what) {
  unsigned long code = ERR_get_error();
  die(status, "%s: %s", what, code != 0 ? ERR_error_string(code, NULL) : strerror(errno));
}

/* Servers send several tickets; the last one counts. */
static int tls_keep_session(SSL *ssl, SSL_SESSION *session) {
  struct tls *t = SSL_get_app_data(ssl);
  if (t->session != NULL) SSL_SESSION_free(t->session);
  t->session = session;
  return 1; /* it is ours */
}

static inline void tls_prepare(void) {
  tls_context = SSL_CTX_new(TLS_client_method());
  if (tls_context == NULL || SSL_CTX_set_min_proto_version(tls_context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(tls_context, TLS_CIPHER) != 1 || SSL_CTX_set1_groups_list(tls_context, TLS_GROUP) != 1)
    tls_die(2, "OpenSSL");
  SSL_CTX_set_verify(tls_context, SSL_VERIFY_NONE, NULL);
  SSL_CTX_set_mode(tls_context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(tls_context, 1);
  SSL_CTX_set_session_cache_mode(tls_context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(tls_context, tls_keep_session);
}

static inline void tls_open(struct tls *t, int fd, bool resume) {
  t->ssl = SSL_new(tls_context);
  t->up = false;
  if (t->ssl == NULL || SSL_set_fd(t->ssl, fd) != 1 || SSL_set_tlsext_host_name(t->ssl, "localhost") != 1) tls_die(2, "SSL_new");
  SSL_set_app_data(t->ssl, t);
  SSL_set_connect_state(t->ssl);
  if (resume && t->session != NULL && SSL_set_session(t->ssl, t->session) != 1) tls_die(2, "SSL_set_session");
}

/* As send(2) and recv(2) say it: -1 and EAGAIN to come back later, 0 at the end. */
static inline ssize_t tls_result(struct tls *t, int result) {
  switch (SSL_get_error(t->ssl, result)) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
    errno = EAGAIN;
    return -1;
  case SSL_ERROR_ZERO_RETURN:
    return 0;
  case SSL_ERROR_SSL:
    tls_die(1, "the server broke TLS");
    return -1;
  default: /* the system's error, or an end without close_notify */
    if (errno == 0 || errno == EAGAIN) errno = ECONNRESET;
    return -1;
  }
}

/* True when the handshake is complete; false with EAGAIN, or with an error. */
static inline bool tls_advance(struct tls *t) {
  if (t->up) return true;
  ERR_clear_error();
  errno = 0;
  int result = SSL_do_handshake(t->ssl);
  if (result == 1) return t->up = true;
  if (tls_result(t, result) == 0) errno = ECONNRESET;
  return false;
}

static inline ssize_t tls_send(struct tls *t, const char *bytes, size_t length) {
  if (!tls_advance(t)) return -1;
  ERR_clear_error();
  errno = 0;
  int n = SSL_write(t->ssl, bytes, (int)length);
  return n > 0 ? n : tls_result(t, n);
}

static inline ssize_t tls_receive(struct tls *t, char *bytes, size_t length) {
  ERR_clear_error();
  errno = 0;
  int n = SSL_read(t->ssl, bytes, (int)length);
  return n > 0 ? n : tls_result(t, n);
}

#endif
