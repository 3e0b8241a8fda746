"""What becomes of Scrapy's requests that have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self
from weakref import ReferenceType, WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.request import Request
    from scrapy.spiders import Spider
    from twisted.python.failure import Failure


class _Forgets(Protocol):
    def forget(self, request: Request) -> None: ...


#: The filter of each crawler.
FILTERS: WeakKeyDictionary[Crawler, ReferenceType[_Forgets]] = WeakKeyDictionary()


class ForgetFailed:
    """A downloader middleware that makes the filter forget requests that have failed for good.

    These are the requests that got no response, or one of ``RETRY_HTTP_CODES``, after all retries, and those whose
    callback raised an exception. Requests that a middleware has refused, as robots.txt says, have not failed. Its
    number is less than that of the middleware for retries, 550, which so comes first.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.statuses = {int(status) for status in crawler.settings.getlist("RETRY_HTTP_CODES")}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not hasattr(load_object(crawler.settings["DUPEFILTER_CLASS"]), "forget"):
            raise NotConfigured("ForgetFailed needs a DUPEFILTER_CLASS of furui.scrapy")
        made = cls(crawler)
        crawler.signals.connect(made.spider_error, signals.spider_error)
        return made

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        if response.status in self.statuses:
            self._forget(request)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        if not isinstance(exception, IgnoreRequest):
            self._forget(request)

    def spider_error(self, failure: Failure, response: Response | Failure) -> None:
        request = getattr(response, "request", None)
        if request is not None:
            self._forget(request)

    def _forget(self, request: Request) -> None:
        dupefilter = FILTERS[self.crawler]()
        if dupefilter is not None:
            dupefilter.forget(request)
            if self.crawler.stats is not None:
                self.crawler.stats.inc_value("furui/forgotten")
