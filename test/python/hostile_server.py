# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chat endpoint on loopback that misbehaves as it is told.

Each request is one turn; a turn is a function of the handler, and the last one is
repeated. What was asked is kept.
"""

import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(content, finish="stop", **more):
    """A completion with this content: text, or a value to write as JSON."""
    text = content if content is None or isinstance(content, str) else json.dumps(content)
    return body(json.dumps({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10}, **more}))


def pattern(ops, rule="pointwise", **more):
    return {"ops": ops.split() if isinstance(ops, str) else ops, "rule": rule, **more}


def patterns(*given):
    return answer({"patterns": list(given)})


def refinements(*spaces):
    return answer({"kernels": [{"kernel": "gemm_epilogue_0", "space": space, "rationale": "why"}
                               for space in spaces]})


def body(text, status=200, **headers):
    """Any body, as text or bytes."""
    data = text.encode() if isinstance(text, str) else text

    def turn(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
    return turn


def failure(status, message="no", **headers):
    return body(json.dumps({"error": {"message": message}}), status, **headers)


def raw(data):
    """These bytes instead of HTTP, and the end of the connection."""
    def turn(handler):
        handler.wfile.write(data)
        handler.close_connection = True
    return turn


def cut(handler):
    """Headers and the beginning of a body."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices": [')
    handler.close_connection = True


def later(seconds, turn):
    """Another turn, after a while."""
    def wait(handler):
        handler.server.stopped.wait(seconds)
        turn(handler)
    return wait


def silence(handler):
    """Nothing, for as long as anyone waits."""
    handler.server.stopped.wait(30)


def drip(handler):
    """A byte now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not handler.server.stopped.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def flood(size):
    """A body of so many bytes, with or without its length."""
    def turn(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"choices": "')
        block = b"x" * (1 << 20)
        for _ in range(size >> 20):
            handler.wfile.write(block)
        handler.close_connection = True
    return turn


def endless_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    end = time.monotonic() + 20
    while time.monotonic() < end and not handler.server.stopped.is_set():
        handler.wfile.write(b"X-Header: " + b"x" * 60000 + b"\r\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the client has had enough

    def take_turn(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = self.server
        with server.lock:
            turn = server.turns[min(len(server.requests), len(server.turns) - 1)]
            server.requests.append({
                "method": self.command, "path": self.path, "headers": dict(self.headers),
                "body": json.loads(data) if data else None})
        turn(self)

    do_POST = do_GET = do_CONNECT = take_turn

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Listens until the end of a `with`."""
    daemon_threads = True

    def __init__(self, *turns, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.turns = turns
        self.requests = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True,
                                              do_handshake_on_connect=False)
        self.address = f"{scheme}://127.0.0.1:{self.server_port}"
        self.url = self.address + "/v1"

    def handle_error(self, *_):
        pass

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.shutdown()
        self.thread.join()
        self.server_close()
