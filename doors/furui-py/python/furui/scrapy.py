"""Duplicate filters for Scrapy: one for a single spider, with its set on storage, and one that several spiders share.

The filter for a single spider is chosen in settings.py by::

    DUPEFILTER_CLASS = "furui.scrapy.DupeFilter"

Settings, all optional:

- ``FURUI_STORE``: the directory of the set. Default: ``furui`` in ``JOBDIR``. With neither, the set is in memory.
- ``FURUI_MEMORY``: the memory of the set, as in ``"48MiB"``, which is the default.
- ``FURUI_WINDOW``: the time, as in ``"30d"``, or the number of requests, after which a request is new again.
- ``DUPEFILTER_DEBUG``: log every request that is filtered, not only the first.

The fingerprints in a file ``requests.seen``, which Scrapy's own filter has left in ``JOBDIR``, are imported into a new
set.

The other filter has its set in a Valkey or Redis server, or cluster, with the module furui-valkey. Spiders on several
machines can share it::

    DUPEFILTER_CLASS = "furui.scrapy.ClusterDupeFilter"
    FURUI_URL = "redis://host:6379"

Other settings, all optional:

- ``FURUI_CLUSTER``: true if the server is a node of a cluster. By default, the server is asked.
- ``FURUI_NAME``: the name of the set. Default: ``BOT_NAME``, a colon, and the name of the spider.
- ``FURUI_SHARDS``: the number of keys of the server over which the set is spread. Default: 1024.
- ``FURUI_WINDOW``, ``DUPEFILTER_DEBUG``: as above.
"""

from __future__ import annotations

import importlib
import logging
import re
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.request import RequestFingerprinter, referer_str

from . import valkey
from ._furui import Seen
from .errors import ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http.request import Request
    from scrapy.spiders import Spider

__all__ = ["FORM", "OWN_FORM", "ClusterDupeFilter", "DupeFilter"]

#: The form of a set of Scrapy's fingerprints, which are SHA-1 digests: their first eight bytes are the hash.
FORM = "scrapy.fingerprint"
#: The form of a set of fingerprints that a project makes itself. They may have any bytes, and are hashed as a whole.
OWN_FORM = "own fingerprint"

_BATCH = 1 << 16


class _Filter(BaseDupeFilter):
    """The code that both duplicate filters share: fingerprints, statistics and the log of duplicates."""

    def __init__(self, crawler: Crawler, *, window: int | str | None, debug: bool) -> None:
        self.crawler = crawler
        self.window = window
        self.debug = debug
        self.logs_duplicates = True
        self.logger = logging.getLogger(__name__)

    def fingerprint(self, request: Request) -> bytes:
        assert self.crawler.request_fingerprinter is not None
        return self.crawler.request_fingerprinter.fingerprint(request)

    def tell(self, stats: dict[str, int]) -> None:
        """Adds these numbers to the statistics of the crawl, each under its name with the prefix ``furui/``."""
        if self.crawler.stats is not None:
            for name, value in stats.items():
                self.crawler.stats.set_value(f"furui/{name}", value)

    def log(self, request: Request, spider: Spider) -> None:
        if self.debug:
            self.logger.debug(
                "Filtered duplicate request: %(request)s (referer: %(referer)s)",
                {"request": request, "referer": referer_str(request)},
                extra={"spider": spider},
            )
        elif self.logs_duplicates:
            self.logger.debug(
                "Filtered duplicate request: %(request)s - no more duplicates will be shown"
                " (see DUPEFILTER_DEBUG to show all duplicates)",
                {"request": request},
                extra={"spider": spider},
            )
            self.logs_duplicates = False
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value("dupefilter/filtered")


class DupeFilter(_Filter):
    """Filters out requests whose fingerprint was seen before. Requests with equal fingerprints are the same."""

    def __init__(
        self,
        crawler: Crawler,
        store: str | None,
        *,
        imports: Path | None = None,
        memory: int | str = "48MiB",
        window: int | str | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__(crawler, window=window, debug=debug)
        self.store = store
        self.imports = imports
        self.memory = memory
        self.seen: Seen | None = None
        self.is_hashed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DupeFilter:
        settings = crawler.settings
        job = job_dir(settings)
        store = settings.get("FURUI_STORE") or (str(Path(job, "furui")) if job else None)
        return cls(
            crawler,
            store,
            imports=Path(job, "requests.seen") if job else None,
            memory=settings.get("FURUI_MEMORY") or "48MiB",
            window=crawler.settings.get("FURUI_WINDOW"),
            debug=settings.getbool("DUPEFILTER_DEBUG"),
        )

    def open(self) -> None:
        self.is_hashed = type(self.crawler.request_fingerprinter) is RequestFingerprinter
        if self.store and self.imports and self.imports.is_file() and not _holds_files(Path(self.store)):
            self._import(self.imports, Path(self.store))
        self.seen = self._set(self.store)

    def _set(self, store: str | Path | None) -> Seen:
        return Seen(store, memory=self.memory, window=self.window, form=FORM if self.is_hashed else OWN_FORM)

    def _import(self, file: Path, store: Path) -> None:
        """Makes a set of the fingerprints in a file. The set appears only when it is complete."""
        store.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{store.name}.import-", dir=store.parent) as folder:
            part = Path(folder, store.name)
            fingerprints = _fingerprints(file)
            with self._set(part) as seen:
                while batch := list(islice(fingerprints, _BATCH)):
                    seen.add_many(batch, hashed=self.is_hashed)
                known = len(seen)
            part.replace(store)
        self.logger.info("Imported %(known)d fingerprints of %(file)s", {"known": known, "file": file})

    def request_seen(self, request: Request) -> bool:
        assert self.seen is not None, "the crawler opens its filter first"
        return not self.seen.add(self.fingerprint(request), hashed=self.is_hashed)

    def close(self, reason: str) -> None:
        if self.seen is None:
            return
        self.seen.sync()
        self.tell(self.seen.stats())
        self.seen.close()


class ClusterDupeFilter(_Filter):
    """Filters out requests that this spider, or another one with the same set on a server, has seen before.

    A request whose answer was lost in a failover is not filtered out: it may be fetched twice, but is never left out.
    """

    def __init__(
        self,
        crawler: Crawler,
        url: str,
        name: str,
        *,
        cluster: bool | None = None,
        shards: int = 1024,
        window: int | str | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__(crawler, window=window, debug=debug)
        self.url = url
        self.name = name
        self.cluster = cluster
        self.shards = shards
        self.client: Any = None
        self.seen: valkey.Seen | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        url = settings.get("FURUI_URL")
        if not url:
            raise ConfigError('the setting FURUI_URL is missing: it names the server, as in "redis://host:6379"')
        spider = crawler.spider or crawler.spidercls
        return cls(
            crawler,
            url,
            settings.get("FURUI_NAME") or f"{settings.get('BOT_NAME')}:{spider.name}",
            cluster=None if settings.get("FURUI_CLUSTER") is None else settings.getbool("FURUI_CLUSTER"),
            shards=settings.getint("FURUI_SHARDS") or 1024,
            window=crawler.settings.get("FURUI_WINDOW"),
            debug=settings.getbool("DUPEFILTER_DEBUG"),
        )

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """Makes an open filter for the scheduler of scrapy-redis, which neither opens nor closes its filter."""
        made = cls.from_crawler(spider.crawler)
        made.open()
        spider.crawler.signals.connect(made.close, signals.spider_closed)
        return made

    def open(self) -> None:
        self.client = _client(self.url, self.cluster)
        self.seen = valkey.Seen(self.client, self.name, shards=self.shards, window=self.window)

    def request_seen(self, request: Request) -> bool:
        assert self.seen is not None, "the crawler opens its filter first"
        return not self.seen.add(self.fingerprint(request))

    def clear(self) -> None:
        """Removes all requests from the set, as the scheduler of scrapy-redis asks unless SCHEDULER_PERSIST is set."""
        assert self.seen is not None, "the crawler opens its filter first"
        self.seen.clear()

    def close(self, reason: str) -> None:
        if self.seen is None:
            return
        self.tell(self.seen.stats())
        self.client.close()


def _client(url: str, cluster: bool | None) -> Any:
    """Makes a client of a server, of redis-py or valkey-py. If ``cluster`` is None, the server is asked."""
    library, name = _library(url)
    # A server that does not answer is asked again, and must not stop the crawl for good. The URL may say otherwise.
    options = {"socket_timeout": 10.0, "socket_connect_timeout": 5.0}
    client = getattr(library, name).from_url(url, **options)
    if cluster is None:
        cluster = bool(client.info("cluster").get("cluster_enabled"))
    if cluster:
        client.close()
        client = getattr(library, f"{name}Cluster").from_url(url, **options)
    return client


def _library(url: str) -> tuple[Any, str]:
    names = [("redis", "Redis"), ("valkey", "Valkey")]
    for library, name in names[::-1] if url.startswith("valkey") else names:
        try:
            return importlib.import_module(library), name
        except ModuleNotFoundError as error:
            if error.name != library:
                raise
    raise ConfigError("the library of the server is missing: pip install redis")


def _holds_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _fingerprints(file: Path) -> Iterator[bytes]:
    """Yields the fingerprints in a file of Scrapy's own filter. A fingerprint that was cut off at the end is left out.

    Since Scrapy 2.19, each fingerprint follows its length in two bytes; earlier versions write it as a line of
    hexadecimal digits. If a crash has cut off a line, the first line of the next run follows it on the same line.
    """
    garbage = ConfigError(f"{file}: not the fingerprints of Scrapy: move the file away, or use another JOBDIR")
    with file.open("rb") as data:
        if data.peek(1)[:1] == b"\0":
            while len(size := data.read(2)) == 2:
                length = int.from_bytes(size, "big")
                if not 0 < length < 256:
                    raise garbage
                fingerprint = data.read(length)
                if len(fingerprint) < length:
                    return
                yield fingerprint
            return
        width = 0
        for line in data:
            digits = line.rstrip(b"\r\n")
            width = width or len(digits)
            if not re.fullmatch(rb"[0-9a-f]*", digits):
                raise garbage
            if not line.endswith(b"\n"):
                return
            if not 0 < width <= len(digits) or width % 2:
                raise garbage
            yield bytes.fromhex(digits[-width:].decode())
