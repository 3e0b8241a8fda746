"""Spiders on one server, with the scheduler of Scrapy and with that of scrapy-redis."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server import Server

furui = pytest.importorskip("furui", reason="SKIPPED: the wheel of furui is not installed")
pytest.importorskip("scrapy", reason="SKIPPED: Scrapy is not installed")

from furui.scrapy import ClusterDupeFilter  # noqa: E402
from scrapy import Request, Spider  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402
from spiders import Run  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "furui-py" / "tests"))
from crawler import Site  # noqa: E402

PAGES = 300


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(PAGES) as site:
        threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
        yield site
        site.shutdown()


class Named(Spider):
    name = "named"


def dupefilter(**settings: object) -> ClusterDupeFilter:
    return ClusterDupeFilter.from_crawler(get_crawler(Named, settings_dict=settings))


def crawl(site: Site, server: Server, **settings: object) -> dict[str, Any]:
    with Run([site.url], FURUI_URL=f"redis://127.0.0.1:{server.port}/0", **settings) as run:
        return run.stats()


def test_a_second_crawl_fetches_what_is_new(site: Site, server: Server) -> None:
    """What a crawl has seen stays on the server, by default under the name of the project and the spider."""
    stats = crawl(site, server)
    assert sorted(site.take()) == list(range(PAGES))
    assert (stats["furui/keys"], stats["furui/new"]) == (PAGES * 12 + 1, PAGES)
    assert stats["furui/repeats"] == stats["dupefilter/filtered"] == PAGES * 11 + 1
    assert server("GET", "scrapybot:pages:shards").startswith(b"1024 0x")
    stats = crawl(site, server)
    assert site.take() == [] and stats["furui/new"] == 0
    crawl(site, server, FURUI_NAME="again", FURUI_SHARDS=16, FURUI_WINDOW="1h", FURUI_CLUSTER=0)
    assert sorted(site.take()) == list(range(PAGES))
    shards, _, window = server("GET", "again:shards").split()
    assert (shards, window) == (b"16", b"3600000ms")


def test_the_scheduler_of_scrapy_redis(site: Site, server: Server) -> None:
    """Two spiders with one queue fetch every page once."""
    pytest.importorskip("scrapy_redis", reason="SKIPPED: scrapy-redis is not installed")
    url = f"redis://127.0.0.1:{server.port}/0"
    settings: dict[str, object] = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_PERSIST": 1,
        "SCHEDULER_IDLE_BEFORE_CLOSE": 1,
        "REDIS_URL": url,
        "FURUI_URL": url,
    }
    with Run([site.url], **settings) as a, Run([f"{site.url}?of=site&page=1"], **settings) as b:
        stats = [a.stats(), b.stats()]
    assert sorted(site.take()) == list(range(PAGES))
    assert sum(one["furui/new"] for one in stats) == PAGES


def test_requests_with_one_fingerprint_are_one(server: Server) -> None:
    ours = dupefilter(FURUI_URL=f"redis://127.0.0.1:{server.port}")
    ours.open()
    assert not ours.request_seen(Request("http://127.0.0.1/?a=1&b=2"))
    assert ours.request_seen(Request("http://127.0.0.1/?b=2&a=1#part"))
    assert not ours.request_seen(Request("http://127.0.0.1/?b=2&a=1", method="POST"))
    other = dupefilter(FURUI_URL=f"redis://127.0.0.1:{server.port}", FURUI_NAME="scrapybot:named")
    other.open()
    assert other.request_seen(Request("http://127.0.0.1/?a=1&b=2"))
    other.clear()
    assert not ours.request_seen(Request("http://127.0.0.1/?a=1&b=2"))
    for one in (ours, other):
        one.close("finished")


def test_a_failed_request_is_forgotten_when_the_spider_ends(server: Server) -> None:
    request, source = Request("http://127.0.0.1/?b=2"), Request("http://127.0.0.1/?a=1")
    request.meta["redirect_urls"] = [source.url]
    for is_new in (True, True):
        ours = dupefilter(FURUI_URL=f"redis://127.0.0.1:{server.port}")
        ours.open()
        assert [ours.request_seen(one) for one in (request, source)] == [not is_new] * 2
        ours.forget(request)
        assert ours.request_seen(request)
        ours.close("finished")


def test_wrong_settings_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(furui.ConfigError, match="FURUI_URL is missing"):
        dupefilter()
    url = f"redis://127.0.0.1:{server.port}"
    with pytest.raises(furui.ConfigError, match="is no window"):
        dupefilter(FURUI_URL=url, FURUI_WINDOW="a day").open()
    dupefilter(FURUI_URL=url).open()
    with pytest.raises(furui.ConfigError, match="has 1024 shards, not 16"):
        dupefilter(FURUI_URL=url, FURUI_SHARDS=16).open()
    for library in ("redis", "valkey"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(furui.ConfigError, match="pip install redis"):
        dupefilter(FURUI_URL=url).open()
