"""Duplicate filters for Scrapy, one for a single spider and one that several spiders share, and a pipeline for search.

The filter for a single spider, with its set on storage, is chosen in settings.py by::

    DUPEFILTER_CLASS = "furui.scrapy.DupeFilter"

Settings, all optional:

- ``FURUI_STORE``: the directory of the set. Default: ``furui`` in ``JOBDIR``. With neither, the set is in memory.
- ``FURUI_MEMORY``: the memory of the set, as in ``"48MiB"``, which is the default.
- ``FURUI_WINDOW``: the time, as in ``"30d"``, or the number of requests, after which a request is new again.
- ``DUPEFILTER_DEBUG``: log every request that is filtered, not only the first.

The fingerprints in a file ``requests.seen``, which Scrapy's own filter has left in ``JOBDIR``, are imported into a new
set.

A request is seen when it is asked for, also if it fails. So that the next crawl asks again for what has failed for
good, after all retries::

    DOWNLOADER_MIDDLEWARES = {"furui.scrapy.ForgetFailed": 540}

The other filter has its set in a Valkey or Redis server, or cluster, with the module furui-valkey. Spiders on several
machines can share it::

    DUPEFILTER_CLASS = "furui.scrapy.ClusterDupeFilter"
    FURUI_URL = "redis://host:6379"

Other settings, all optional:

- ``FURUI_CLUSTER``: true if the server is a node of a cluster. By default, the server is asked.
- ``FURUI_NAME``: the name of the set. Default: ``BOT_NAME``, a colon, and the name of the spider.
- ``FURUI_SHARDS``: the number of keys of the server over which the set is spread. Default: 1024.
- ``FURUI_PATIENCE``: the number of seconds for which a server that does not answer is asked again. Then requests fail,
  with an error each, until it answers again. Default: 30. With 0, they fail at once.
- ``FURUI_WINDOW``, ``DUPEFILTER_DEBUG``: as above.

The items of a crawl, with the fields ``url``, ``title`` and ``text``, are found by the search of a node of furui::

    ITEM_PIPELINES = {"furui.scrapy.Publish": 900}

Settings, all optional:

- ``FURUI_NODE``: the address of the node. Default: ``http://127.0.0.1:7717``.
- ``FURUI_TOKEN``: the token of a node that asks for one. Default: the variable of this name in the environment.
- ``FURUI_FIELDS``: the names of the fields in which items have them, as in ``{"url": "link", "text": "body"}``.
- ``FURUI_PATIENCE``: the number of seconds for which a node that does not answer is asked again. The crawl waits
  meanwhile. Then the documents that were sent are lost, of which the log says how many. Default: 30.
"""

from __future__ import annotations

import importlib
import logging
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import ref

from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.request import RequestFingerprinter, referer_str

from . import valkey
from ._failed import FILTERS, ForgetFailed
from ._furui import Seen
from ._publish import Publish
from ._requests_seen import fingerprints_in
from ._stop import Stopped, stoppable
from .errors import ConfigError, LockedError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http.request import Request
    from scrapy.spiders import Spider

__all__ = ["FORM", "OWN_FORM", "ClusterDupeFilter", "DupeFilter", "ForgetFailed", "Publish"]

#: The form of a set of Scrapy's fingerprints, which are SHA-1 digests: they are hashes themselves (hashed=True).
FORM = "scrapy.fingerprint"
#: The form of a set of fingerprints that a project makes itself. They may have any bytes, and are hashed as a whole.
OWN_FORM = "own fingerprint"

_BATCH = 1 << 16
#: So many requests that are to be forgotten are kept in memory at most.
_FORGOTTEN = 100_000
#: After a failure, a server is not asked again for so many seconds, because each attempt may wait for a timeout.
_REST = 5.0
#: A server that takes longer for an answer than these seconds is not asked again once the crawl is stopped.
_SLOW = 0.5


_T = TypeVar("_T")


class _Filter(BaseDupeFilter):
    """The code that both duplicate filters share: fingerprints, statistics and the log of duplicates."""

    def __init__(self, crawler: Crawler, *, window: int | str | None, debug: bool) -> None:
        self.crawler = crawler
        self.window = window
        self.debug = debug
        self.logs_duplicates = True
        self.logger = logging.getLogger(__name__)
        #: The fingerprints that are to leave the set.
        self.forgotten: set[bytes] = set()
        FILTERS[crawler] = ref(self)

    def forget(self, request: Request) -> None:
        """Makes a request new for the next crawl, for example because it has failed, and those redirected to it.

        They leave the set at the end of this crawl, or when there are 100,000 of them.
        """
        self.forgotten.update(self.fingerprints(request))
        if len(self.forgotten) >= _FORGOTTEN:
            self._discard()

    def _discard(self) -> None:
        """Removes what is to be forgotten from the set."""
        raise NotImplementedError

    def _tell_of_forgotten(self) -> None:
        if self.forgotten:
            self.logger.warning("%d requests that have failed are not forgotten", len(self.forgotten))

    def fingerprints(self, request: Request) -> list[bytes]:
        """The fingerprints of a request and of those that were redirected to it."""
        before = [request.replace(url=url) for url in request.meta.get("redirect_urls", [])]
        return [self.fingerprint(each) for each in [request, *before]]

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
    def from_crawler(cls, crawler: Crawler) -> Self:
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
        form, other = (FORM, OWN_FORM) if self.is_hashed else (OWN_FORM, FORM)
        try:
            return Seen(store, memory=self.memory, window=self.window, form=form)
        except LockedError as error:
            error.add_note("A store is for one spider at a time: give each one a FURUI_STORE, or a JOBDIR, of its own.")
            raise
        except ConfigError as error:
            if store is None or not _has_form(store, other):
                raise
            made, now = ("a project's own", "Scrapy's") if self.is_hashed else ("Scrapy's", "a project's own")
            raise ConfigError(
                f"{store}: its fingerprints are {made}, and now they are {now}: set REQUEST_FINGERPRINTER_CLASS as it "
                "was, or begin a new crawl with another JOBDIR or FURUI_STORE"
            ) from error

    def _import(self, file: Path, store: Path) -> None:
        """Makes a set of the fingerprints in a file. The set appears only when it is complete."""
        store.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{store.name}.import-", dir=store.parent) as folder:
            part = Path(folder, store.name)
            fingerprints = fingerprints_in(file)
            with self._set(part) as seen:
                while batch := list(islice(fingerprints, _BATCH)):
                    seen.add_many(batch, hashed=self.is_hashed)
                known = len(seen)
            part.replace(store)
        self.logger.info("Imported %(known)d fingerprints of %(file)s", {"known": known, "file": file})

    def request_seen(self, request: Request) -> bool:
        assert self.seen is not None, "the crawler opens its filter first"
        return not self.seen.add(self.fingerprint(request), hashed=self.is_hashed)

    def _discard(self) -> None:
        assert self.seen is not None, "the crawler opens its filter first"
        if self.forgotten:
            self.seen.discard_many(list(self.forgotten), hashed=self.is_hashed)
            self.forgotten.clear()

    def close(self, reason: str) -> None:
        if self.seen is None:
            return
        try:
            self._discard()
        finally:
            self._tell_of_forgotten()
            self.seen.close()
            self.tell(self.seen.stats())


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
        patience: float = 30.0,
        debug: bool = False,
    ) -> None:
        super().__init__(crawler, window=window, debug=debug)
        self.patience = patience
        self.url = url
        self.name = name
        self.cluster = cluster
        self.shards = shards
        self.client: Any = None
        self.seen: valkey.Seen | None = None
        #: The error of the last call, and the time at which it was raised; None if the server has answered since.
        self._failed: tuple[Exception, float] | None = None
        self._is_stopped = False
        #: True if a crawl has opened the filter: it is being stopped when `crawling` of its crawler is False again.
        self._is_crawling = False

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
            patience=settings.getfloat("FURUI_PATIENCE", 30.0),
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
        self._is_crawling = self.crawler.crawling
        self.client = _client(self.url, self.cluster)
        self.seen = valkey.Seen(self.client, self.name, shards=self.shards, window=self.window)

    def request_seen(self, request: Request) -> bool:
        assert self.seen is not None, "the crawler opens its filter first"
        fingerprint, add = self.fingerprint(request), self.seen.add
        # Whether a request was seen is not known when the crawl is stopped: it stays in the queue for the next one.
        return not self._ask(lambda: add(fingerprint), otherwise=True)

    def _ask(self, ask: Callable[[], _T], otherwise: _T) -> _T:
        """Calls the server. If the crawl is stopped meanwhile, waits no longer, and returns ``otherwise``."""
        assert self.seen is not None
        is_stopping = self._is_stopped or (self._is_crawling and not self.crawler.crawling)
        start = time.monotonic()
        if self._failed and is_stopping:
            return otherwise
        if self._failed and start < self._failed[1] + _REST:
            raise self._failed[0].with_traceback(None) from None
        self.seen.patience = 0 if self._failed or is_stopping else self.patience
        try:
            with stoppable():
                answer = ask()
        except Stopped:
            self._is_stopped = True
            if time.monotonic() > start + _SLOW:
                self._failed = TimeoutError("the server had not answered when the crawl was stopped"), start
            return otherwise
        except Exception as error:
            self._failed = error, time.monotonic()
            if is_stopping:
                return otherwise
            raise
        self._failed = None
        return answer

    def _discard(self) -> None:
        assert self.seen is not None, "the crawler opens its filter first"
        forgotten, discard = list(self.forgotten), self.seen.discard_many
        if forgotten and self._ask(lambda: discard(forgotten), otherwise=None) is not None:
            self.forgotten.clear()

    def clear(self) -> None:
        """Removes all requests from the set, as the scheduler of scrapy-redis asks unless SCHEDULER_PERSIST is set."""
        assert self.seen is not None, "the crawler opens its filter first"
        self.seen.clear()

    def close(self, reason: str) -> None:
        if self.seen is None:
            return
        try:
            self._discard()
        finally:
            self.tell(self.seen.stats())
            self.client.close()
            self._tell_of_forgotten()


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


def _has_form(store: str | Path, form: str) -> bool:
    try:
        with Seen(store, read_only=True, form=form):
            return True
    except (OSError, ValueError):
        return False


def _holds_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
