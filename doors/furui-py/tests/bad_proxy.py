"""A proxy between a client and a server on loopback that counts, drops, delays and repeats requests."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias

#: What happens to a request: it never comes, its answer is lost, another request comes first, or it comes twice.
Fate: TypeAlias = Literal["pass", "lost", "answer lost", "late", "twice"]
#: Decides by the method and the path of a request.
Choose: TypeAlias = Callable[[str, str], Fate]


class BadProxy:
    """A proxy for the server on this port. Use it as a context manager."""

    def __init__(self, port: int) -> None:
        self.choose: Choose = lambda method, path: "pass"
        #: The requests that came, by method and last part of the path ("MANIFEST", or the ending of other names).
        self.requests: Counter[tuple[str, str]] = Counter()
        #: The bytes of bodies that were put, and of those that were got.
        self.put = self.got = 0
        #: An answer for the next request to get the manifest, in place of the server's.
        self.old: tuple[bytes, str] | None = None
        self._lock = threading.Lock()
        self._waiting: list[threading.Event] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                pass

            def _any(self) -> None:
                outer._handle(self, port)

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _any

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> BadProxy:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, request: BaseHTTPRequestHandler, port: int) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        name = request.path.partition("?")[0].rpartition("/")[2]
        with self._lock:
            self.requests[request.command, "pack" if name.endswith(".pack") else name] += 1
            self.put += len(body)
            fate = self.choose(request.command, request.path)
            # A late request waits until another one has passed, or for a tenth of a second if none comes.
            others, self._waiting = self._waiting, []
            mine = threading.Event()
            if fate == "late":
                self._waiting.append(mine)
            old = self.old if (request.command, name) == ("GET", "MANIFEST") else None
            if old is not None:
                self.old = None
        if old is not None:
            self._answer(request, 200, [("ETag", old[1]), ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")], old[0])
            return
        if fate == "lost":
            request.close_connection = True
            return
        if fate == "late":
            mine.wait(0.1)
        answer = self._forward(request, port, body)
        if fate == "twice":
            answer = self._forward(request, port, body)
        for other in others:
            other.set()
        if fate == "answer lost":
            request.close_connection = True
            return
        self._answer(request, *answer)

    def _forward(
        self, request: BaseHTTPRequestHandler, port: int, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(request.command, request.path, body or None, dict(request.headers.items()))
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        length = answer.headers.get("Content-Length")
        headers = [each for each in answer.getheaders() if each[0].lower() not in ("content-length", "connection")]
        if request.command == "HEAD" and length is not None:
            headers.append(("Content-Length", length))
        return answer.status, headers, data

    def _answer(self, request: BaseHTTPRequestHandler, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
        self.got += len(data)
        request.send_response_only(status)
        for name, value in headers:
            request.send_header(name, value)
        if request.command != "HEAD":
            request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)
