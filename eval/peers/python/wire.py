"""One connection that stays open, the same for every peer over HTTP."""

import http.client
import json
import socket


class Wire:
    def __init__(self, host, port):
        self.connection = http.client.HTTPConnection(host, port, timeout=600)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method, path, body=None):
        raw = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, raw, {"Content-Type": "application/json"} if raw else {})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text) if text else None
