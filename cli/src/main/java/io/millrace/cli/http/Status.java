package io.millrace.cli.http;

/** The answers that this server gives. After one that closes, what follows on the connection cannot be trusted or is unwanted. */
enum Status {
    OK(200, "OK", false),
    NO_CONTENT(204, "No Content", false),
    PARTIAL_CONTENT(206, "Partial Content", false),
    MOVED_PERMANENTLY(301, "Moved Permanently", false),
    NOT_MODIFIED(304, "Not Modified", false),
    BAD_REQUEST(400, "Bad Request", true),
    NOT_FOUND(404, "Not Found", false),
    METHOD_NOT_ALLOWED(405, "Method Not Allowed", true),
    PRECONDITION_FAILED(412, "Precondition Failed", false),
    CONTENT_TOO_LARGE(413, "Content Too Large", true),
    URI_TOO_LONG(414, "URI Too Long", true),
    RANGE_NOT_SATISFIABLE(416, "Range Not Satisfiable", false),
    HEADERS_TOO_LARGE(431, "Request Header Fields Too Large", true),
    NOT_IMPLEMENTED(501, "Not Implemented", true),
    UNAVAILABLE(503, "Service Unavailable", true),
    VERSION_NOT_SUPPORTED(505, "HTTP Version Not Supported", true);

    final int code;
    final String reason;
    final boolean closes;

    Status(int code, String reason, boolean closes) {
        this.code = code;
        this.reason = reason;
        this.closes = closes;
    }
}
