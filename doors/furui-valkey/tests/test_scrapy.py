"""Spiders on one server, with the scheduler of Scrapy and with that of scrapy-redis."""

import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from cluster import Cluster, until
from redis.backoff import NoBackoff
from redis.retry import Retry
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


class Log:
    """The log of a spider's process, which is read while it runs."""

    def __init__(self, run: Run) -> None:
        self.lines: list[str] = []
        self.stream = run.process.stderr
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self) -> None:
        assert self.stream
        self.lines.extend(self.stream)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def until(self, text: str, seconds: float) -> None:
        until(lambda: text in self.text, f"{text} in the log", seconds)


@pytest.mark.parametrize(
    ("fault", "number"), [("kill", signal.SIGTERM), ("kill", signal.SIGINT), ("hang", signal.SIGTERM)]
)
def test_a_spider_whose_server_is_gone_says_so_and_obeys(
    site: Site, server: Server, fault: str, number: signal.Signals
) -> None:
    assert server.process
    with Run([site.url], FURUI_URL=f"redis://127.0.0.1:{server.port}") as run:
        log = Log(run)
        until(lambda: len(site.fetched) > PAGES // 4, "a quarter of the pages")
        if fault == "kill":
            server.kill()
            log.until("[furui.valkey] WARNING: The server does not answer", 2)
        else:
            server.process.send_signal(signal.SIGSTOP)
            # No answer may be on its way any more.
            time.sleep(1)
        start = time.monotonic()
        run.process.send_signal(number)
        try:
            assert run.process.wait(10) == 0, log.text
        finally:
            server.process.send_signal(signal.SIGCONT)
        took = time.monotonic() - start
        log.thread.join(10)
    assert took < 2, log.text
    assert "Spider closed (shutdown)" in log.text and "Traceback" not in log.text, log.text


@pytest.mark.xdist_group("cluster")
def test_a_spider_whose_cluster_is_gone_says_so_and_obeys(site: Site, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        with Run([site.url], FURUI_URL=f"redis://127.0.0.1:{cluster.nodes[0].port}") as run:
            log = Log(run)
            until(lambda: len(site.fetched) > PAGES // 4, "a quarter of the pages")
            for node in cluster.nodes:
                node.kill()
            log.until("[furui.valkey] WARNING: The server does not answer", 5)
            time.sleep(1)
            start = time.monotonic()
            run.process.send_signal(signal.SIGTERM)
            assert run.process.wait(10) == 0, log.text
            took = time.monotonic() - start
            log.thread.join(10)
    finally:
        cluster.stop()
    assert took < 2 and "Spider closed (shutdown)" in log.text, log.text


@pytest.mark.parametrize("patience", ["0", "1"])
def test_after_its_patience_a_spider_waits_no_more(site: Site, server: Server, patience: str) -> None:
    """Each request fails at once then, with an error, and the crawl ends; requests are asked again later."""
    with Run([site.url], FURUI_URL=f"redis://127.0.0.1:{server.port}", FURUI_PATIENCE=patience) as run:
        log = Log(run)
        until(lambda: len(site.fetched) > PAGES // 4, "a quarter of the pages")
        server.kill()
        start = time.monotonic()
        assert run.process.wait(60) == 0, log.text[-5000:]
        took = time.monotonic() - start
        log.thread.join(10)
    assert took < 15, f"{took} s: {log.text[-5000:]}"
    assert len(re.findall("The server does not answer", log.text)) == 1, "it is told every 30 s"
    assert "Spider closed (finished)" in log.text


def test_a_filter_goes_on_when_its_server_answers_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = dupefilter(FURUI_URL=f"redis://127.0.0.1:{server.port}", FURUI_PATIENCE=1)
    ours.open()
    assert not ours.request_seen(Request("http://127.0.0.1/?a=1"))
    port = server.port
    server("SAVE")
    server.kill()
    server.choose_port = lambda: port
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    times = []
    for _ in range(3):
        start = time.monotonic()
        with pytest.raises(redis.ConnectionError):
            ours.request_seen(Request("http://127.0.0.1/?a=2"))
        times.append(time.monotonic() - start)
    assert times[0] > 1 and max(times[1:]) < 0.5, times
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    server.start()
    monkeypatch.setattr("furui.scrapy._REST", 0)
    assert ours.request_seen(Request("http://127.0.0.1/?a=1"))
    assert not ours.request_seen(Request("http://127.0.0.1/?a=2"))
    # The next failure is waited for again.
    server.kill()
    start = time.monotonic()
    with pytest.raises(redis.ConnectionError):
        ours.request_seen(Request("http://127.0.0.1/?a=3"))
    assert time.monotonic() - start > 1
    ours.close("finished")


def test_a_server_that_is_away_is_told_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("furui._nodes._TELL_AGAIN", 0.5)
    caplog.set_level(logging.INFO, "furui.valkey")
    seen = furui.valkey.Seen(redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)), "s", shards=1, patience=30)
    # A connection that was closed meanwhile is nothing to tell.
    server("CLIENT", "KILL", "TYPE", "normal")
    assert seen.add("a") and not caplog.records
    port = server.port
    server.kill()
    server.choose_port = lambda: port
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(seen.add("b")))
    thread.start()
    until(lambda: len(caplog.records) >= 3, "three warnings", 20)
    server.start()
    thread.join(20)
    assert answers == [True]
    assert all(record.levelname == "WARNING" for record in caplog.records[:-1])
    assert "answers again" in caplog.records[-1].message
