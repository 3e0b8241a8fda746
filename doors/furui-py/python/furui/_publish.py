"""What becomes of Scrapy's items: documents that the search of a node finds."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from itemadapter import ItemAdapter
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from .errors import ConfigError

try:
    from scrapy.utils.asyncio import run_in_thread
except ImportError:
    # Scrapy before 2.15, some of which do not wait for the coroutine of `close_spider`.
    run_in_thread = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

#: A batch with so many documents, or bytes, is full: further items wait. A node publishes as much at a time.
_DOCUMENTS, _BYTES = 256, 1 << 20
#: The maximum time for a node to accept a connection, and to send the next bytes, in seconds. The latter is longer than
#: the node's own limit, 60 seconds without progress, so that the node can report that this limit has passed.
_CONNECT, _SILENCE = 10.0, 90.0
#: The pause before a node that did not answer is asked again, in seconds. Chosen: a node needs a second to start.
_PAUSE = 1.0
#: The maximum length of a line of an answer, in bytes, and of lines. Chosen: an answer has a short line a document.
_LINE, _LINES = 1 << 16, 1 << 12
#: A host, and perhaps a port. Without it a user and a password would be taken for the host.
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:@\s]+)(:[0-9]{1,5})?")


class _LostError(Exception):
    """A batch could not be published, for the reason that is the text."""


class Publish:
    """An item pipeline that publishes items to a node of furui, so that its search finds them. Items pass unchanged.

    Each item counts in the statistics as ``furui/published``; as ``furui/refused``, if it is no document or the node
    refuses it, for the reason that is logged; or as ``furui/lost``, if the node could not be reached.
    """

    def __init__(
        self, crawler: Crawler, node: str, *, token: str | None, fields: Mapping[str, str], patience: float
    ) -> None:
        self.crawler = crawler
        self.node = node
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.fields = {"url": "url", "title": "title", "text": "text"} | dict(fields)
        self.patience = patience
        self.logger = logging.getLogger("furui.scrapy")
        #: The documents that are to be sent next, each with its URL, and their size in bytes.
        self.batch: list[tuple[str, bytes]] = []
        self.bytes = 0
        #: Called when a batch was sent. The batch after it has room then.
        self.waiting: list[Deferred[None]] = []
        self.is_sending = False
        #: True if the last batch was lost: then the next one is not sent a second time.
        self.is_down = False
        if run_in_thread is None:
            raise ConfigError("furui.scrapy.Publish needs Scrapy 2.15 or later: pip install --upgrade scrapy")
        to = urlsplit(node)
        if to.scheme not in ("http", "https") or not _HOST.fullmatch(to.netloc) or to.query or to.fragment:
            raise ConfigError('FURUI_NODE is no address of a node, such as "http://127.0.0.1:7717"')
        if token and not (token.isascii() and token.isprintable()):
            raise ConfigError("FURUI_TOKEN is no token: it has characters that tokens cannot have")
        if len(self.fields) > 3:
            raise ConfigError(f"FURUI_FIELDS names the fields for url, title and text, and nothing else: {fields}")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        return cls(
            crawler,
            settings.get("FURUI_NODE") or "http://127.0.0.1:7717",
            token=settings.get("FURUI_TOKEN") or os.environ.get("FURUI_TOKEN"),
            fields=settings.getdict("FURUI_FIELDS"),
            patience=settings.getfloat("FURUI_PATIENCE", 30.0),
        )

    def document(self, item: Any) -> dict[str, str] | None:
        """Makes the url, title and text of an item's document. A subclass may return None: the item is none.

        Raises ValueError, with the reason, if the item should be a document but is not.
        """
        adapter = ItemAdapter(item)
        document = {name: _text(adapter.get(field), name, field) for name, field in self.fields.items()}
        if not document["url"]:
            raise ValueError(f"its URL is missing, the field {self.fields['url']!r} (see FURUI_FIELDS)")
        return document

    async def open_spider(self, spider: Spider | None = None) -> None:
        """Publishes nothing, so that no crawl begins whose items would all be lost."""
        try:
            await run_in_thread(self._publish, [])
        except _LostError as error:
            raise ConfigError(f"{error}; FURUI_NODE names the address of the node, and FURUI_TOKEN its token") from None

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        try:
            document = self.document(item)
            line = json.dumps(document, ensure_ascii=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            self._refuse(f"an item of type {type(item).__name__}", str(error))
            return item
        if document is None:
            return item
        while self.is_sending and (len(self.batch) >= _DOCUMENTS or self.bytes >= _BYTES):
            self.waiting.append(Deferred())
            await maybe_deferred_to_future(self.waiting[-1])
        self.batch.append((document["url"], line))
        self.bytes += len(line)
        if not self.is_sending:
            await self._send()
        return item

    async def close_spider(self, spider: Spider | None = None) -> None:
        if self.batch:
            await self._send()

    async def _send(self) -> None:
        """Sends the batch. Items that come meanwhile are the next batch, which the first item after that sends."""
        batch, self.batch, self.bytes, self.is_sending = self.batch, [], 0, True
        try:
            scarce, refused = await run_in_thread(self._publish, batch)
            for number, reason in refused:
                self._refuse(batch[number - 1][0], reason)
            self._count("published", len(batch) - len(refused))
            self._count("scarce", scarce)
        except _LostError as error:
            self.logger.error("%d documents are not published, from %s on: %s", len(batch), batch[0][0], error)
            self._count("lost", len(batch))
        finally:
            self.is_sending = False
            waiting, self.waiting = self.waiting, []
            for room in waiting:
                room.callback(None)

    def _refuse(self, what: str, reason: str) -> None:
        self.logger.warning("%s is not published: %s", what, reason)
        self._count("refused", 1)

    def _count(self, name: str, count: int) -> None:
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(f"furui/{name}", count)

    def _publish(self, batch: list[tuple[str, bytes]]) -> tuple[int, list[tuple[int, str]]]:
        """Sends a batch, in a thread. A node that does not answer is asked again until the patience is at its end.

        If only the answer was lost, documents are sent twice; the node knows them by their content.
        """
        end = time.monotonic() + (0 if self.is_down else self.patience)
        body, is_told = b"".join(line for _, line in batch), False
        while True:
            try:
                answer = self._post(body, len(batch))
            except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
                reason = f"{self.node} takes no documents: {str(error) or type(error).__name__}"
                if time.monotonic() + _PAUSE > end:
                    self.is_down = True
                    raise _LostError(reason) from error
            else:
                self.is_down = False
                return answer
            if not is_told:
                self.logger.warning("%s; it is asked again for %.0f seconds", reason, self.patience)
                is_told = True
            time.sleep(_PAUSE)

    def _post(self, body: bytes, count: int) -> tuple[int, list[tuple[int, str]]]:
        """Returns how many documents are at fewer nodes than they should be, and the refused lines with the reasons.

        No proxy is used and no redirection is followed, because the token is for the node alone.
        """
        to = urlsplit(self.node)
        kind = HTTPSConnection if to.scheme == "https" else HTTPConnection
        connection = kind(to.hostname or "", to.port, timeout=_CONNECT)
        try:
            connection.connect()
            connection.sock.settimeout(_SILENCE)
            connection.request("POST", f"{to.path.rstrip('/')}/publish", body, self.headers)
            response = connection.getresponse()
            refused: list[tuple[int, str]] = []
            for _ in range(_LINES):
                line = response.readline(_LINE)
                answer = json.loads(line) if line.startswith(b"{") else {}
                if "line" in answer and 1 <= answer["line"] <= count:
                    refused.append((answer["line"], str(answer["error"])))
                elif answer.get("done"):
                    return int(answer["scarce"]), refused
                elif "documents" not in answer:
                    what = "its answer is cut off" if response.status == 200 else f"status {response.status}"
                    reason = str(answer.get("error", what))
                    # A request that is wrong, or has no token, is wrong the next time, too.
                    if 400 <= response.status < 500 and response.status != 408:
                        raise _LostError(f"{self.node} refuses them: {reason}")
                    raise OSError(reason)
            raise OSError("its answer does not end")
        finally:
            connection.close()


def _text(value: Any, name: str, field: str) -> str:
    """The text of a field: a str, or several, as getall() returns them."""
    if isinstance(value, bytes):
        raise ValueError(f"its field {field!r} has bytes: decode them, as response.text does")
    if isinstance(value, (list, tuple)):
        return ("\n" if name == "text" else " ").join(_text(each, name, field) for each in value)
    return "" if value is None else str(value)
