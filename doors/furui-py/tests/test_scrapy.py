"""The filter for Scrapy crawls the pages that Scrapy's own filter crawls, and remembers them, in little memory."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import furui
import pytest
from crawler import Run, Site
from furui.scrapy import DupeFilter
from scrapy import Request
from scrapy.utils.test import get_crawler

OURS = "DUPEFILTER_CLASS=furui.scrapy.DupeFilter"
SCRAPYS = "DUPEFILTER_CLASS=scrapy.dupefilters.RFPDupeFilter"


def serve(pages: int) -> Iterator[Site]:
    with Site(pages) as site:
        threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
        yield site
        site.go_on.set()
        site.shutdown()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site of 400 pages."""
    yield from serve(400)


@pytest.fixture(scope="module")
def large_site() -> Iterator[Site]:
    """A site of 2,000 pages."""
    yield from serve(2000)


def crawl(site: Site, *settings: str) -> tuple[dict[str, Any], str]:
    """Crawls a site, and returns Scrapy's statistics and its log."""
    with Run("crawl", site.url, *settings) as run:
        return run.result(), run.log


def dupefilter(**settings: object) -> DupeFilter:
    return DupeFilter.from_crawler(get_crawler(settings_dict=settings))


@pytest.fixture(scope="module")
def scrapys(large_site: Site) -> tuple[list[int], dict[str, Any]]:
    """What Scrapy's own filter fetches of the large site, and its statistics."""
    stats, _ = crawl(large_site, SCRAPYS)
    return sorted(large_site.take()), stats


@pytest.mark.xdist_group("large site")
def test_the_same_pages_are_fetched(large_site: Site, scrapys: tuple[list[int], dict[str, Any]]) -> None:
    """A crawl fetches every page of 2,000 once, as with Scrapy's filter, and tells in the statistics what it did."""
    fetched, theirs = scrapys
    stats, _ = crawl(large_site, OURS)
    assert sorted(large_site.take()) == fetched == list(range(2000))
    assert stats["dupefilter/filtered"] == theirs["dupefilter/filtered"] == 2000 * 12 - 1999
    assert (stats["furui/new"], stats["furui/repeats"], stats["furui/keys"]) == (1999, 2000 * 12 - 1999, 2000 * 12)
    assert stats["finish_reason"] == theirs["finish_reason"] == "finished"
    assert (stats["furui/len"], stats["furui/unsynced"]) == (1999, 0)


@pytest.mark.xdist_group("large site")
def test_a_stopped_crawl_goes_on(large_site: Site, scrapys: tuple[list[int], dict[str, Any]], tmp_path: Path) -> None:
    """A crawl that is stopped by a limit, and then by Ctrl-C, goes on: each page is fetched once in the three runs."""
    job = f"JOBDIR={tmp_path / 'job'}"
    stats, _ = crawl(large_site, OURS, job, "CLOSESPIDER_PAGECOUNT=500")
    assert (stats["finish_reason"], stats["furui/unsynced"]) == ("closespider_pagecount", 0)
    fetched = large_site.take()
    large_site.hold_at = 500
    with Run("crawl", large_site.url, OURS, job) as run:
        assert large_site.held.wait(60)
        run.process.send_signal(signal.SIGINT)
        run.read_until("Received SIGINT")
        large_site.go_on.set()
        assert run.result()["finish_reason"] == "shutdown"
    fetched += large_site.take()
    assert 1000 <= len(fetched) < 2000
    stats, _ = crawl(large_site, OURS, job)
    assert (stats["finish_reason"], stats["furui/len"]) == ("finished", 1999)
    # Scrapy does not filter the first request of a run.
    assert sorted(fetched + large_site.take()) == [0, 0, *scrapys[0]]


def test_a_second_crawl_fetches_what_is_new(site: Site, tmp_path: Path) -> None:
    """A crawl with the set of an earlier one fetches only the start page, whose links it has all seen."""
    store = f"FURUI_STORE={tmp_path / 'sets' / 'pages'}"
    crawl(site, OURS, store)
    assert sorted(site.take()) == list(range(400))
    stats, _ = crawl(site, OURS, store)
    assert site.take() == [0]
    assert (stats["furui/len"], stats["furui/new"], stats["furui/repeats"]) == (399, 0, 12)
    files = (tmp_path / "sets" / "pages").glob("*.run")
    assert (stats["furui/runs"], stats["furui/bytes"]) == (1, sum(file.stat().st_size for file in files))


FORGET = 'DOWNLOADER_MIDDLEWARES={"furui.scrapy.ForgetFailed": 540}'
RETRY = "RETRY_TIMES=1"


def linked(site: Site) -> set[int]:
    """The pages that the start page links."""
    return {int(number) for number in re.findall(rb"page=(\d+)", site.bodies[0])}


def test_failed_requests_are_asked_for_again(site: Site, tmp_path: Path) -> None:
    """What failed in one crawl is fetched by the next one, after a redirection, too, and what did not fail is not."""
    store, pages = f"FURUI_STORE={tmp_path / 'pages'}", sorted(linked(site))
    unavailable, silent, missing, moved, confusing = pages[:5]
    target = next(page for page in range(1, 400) if page not in pages)
    site.broken = {unavailable: 503, silent: None, missing: 404, target: 500}
    site.moved = {moved: target}
    stats, log = crawl(site, OURS, FORGET, RETRY, store, f"CONFUSING={confusing}")
    fetched = site.take()
    assert set(fetched) == set(range(400))
    # After no answer at all, Twisted tries another connection by itself.
    assert fetched.count(silent) >= 2
    assert [fetched.count(page) for page in (unavailable, missing, confusing, pages[5])] == [2, 1, 1, 1]
    # The target was asked for by its own links and by the page that moved.
    assert stats["furui/forgotten"] == 3 + (fetched.count(target) // 2), log
    assert stats["furui/len"] == 399 - 5
    site.broken, site.moved = {}, {}
    stats, _ = crawl(site, OURS, FORGET, store)
    again = site.take()
    assert sorted(again)[1:] == sorted({unavailable, silent, moved, confusing, target} & set(again))
    assert set(again) >= {0, unavailable, silent, moved, confusing} and missing not in again
    assert stats["furui/len"] == 399 - (target not in again)
    crawl(site, OURS, FORGET, store)
    assert site.take() == [0]


def test_failed_requests_stay_seen_without_the_middleware(site: Site, tmp_path: Path) -> None:
    store, page = f"FURUI_STORE={tmp_path / 'pages'}", min(linked(site))
    site.broken = {page: 503}
    crawl(site, OURS, RETRY, store)
    site.broken = {}
    site.take()
    crawl(site, OURS, store)
    assert site.take() == [0]


def test_a_spider_forgets_a_request(tmp_path: Path) -> None:
    for settings in [{}, {"REQUEST_FINGERPRINTER_CLASS": "crawler.OwnFingerprints"}]:
        store = tmp_path / f"pages {len(settings)}"
        ours = dupefilter(FURUI_STORE=store, **settings)
        requests = [Request(f"http://127.0.0.1/{number}") for number in range(3)]
        for _ in range(2):
            ours.open()
            assert [ours.request_seen(request) for request in requests] == [False, _ == 1, _ == 1]
            requests[2].meta["redirect_urls"] = [requests[0].url]
            ours.forget(requests[0])
            assert ours.request_seen(requests[0]), "in this crawl it has been asked for"
            ours.close("finished")
        ours.open()
        ours.forget(requests[2])
        ours.close("finished")
        ours.open()
        assert [ours.request_seen(request) for request in requests] == [False, True, False]
        ours.close("finished")


def test_the_middleware_needs_the_filter(site: Site) -> None:
    _, log = crawl(site, SCRAPYS, FORGET)
    assert "ForgetFailed needs a DUPEFILTER_CLASS of furui.scrapy" in log
    assert set(site.take()) == set(range(400))


def test_what_could_not_be_forgotten_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If the set cannot be changed at the end of a crawl, the log says so, and the set is closed nevertheless."""
    ours = dupefilter(FURUI_STORE=tmp_path / "pages")
    ours.open()
    ours.request_seen(Request("http://127.0.0.1/"))
    ours.forget(Request("http://127.0.0.1/"))
    (tmp_path / "pages" / "LOCK").unlink()
    with pytest.raises(furui.Error):
        ours.close("finished")
    assert "1 requests that have failed are not forgotten" in caplog.text
    assert ours.seen is not None and ours.seen.closed


def recipe() -> str:
    """The block of docs/python.md that records the pages whose item came out."""
    page = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    return next(block for block in blocks if "ItemDupeFilter" in block)


def test_a_page_is_seen_when_its_item_came_out(tmp_path: Path) -> None:
    """The recipe: of two pages the one without a price is asked for again, until it has one."""

    def items() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", recipe()], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert ("no price yet" in done.stderr) == ("soon" in (tmp_path / "b.html").read_text())
        return done.stdout.splitlines()

    assert items() == ["item: a.html 1 Euro"]
    assert items() == []
    (tmp_path / "b.html").write_text("<b>2 Euro</b>")
    assert items() == ["item: b.html 2 Euro"]
    assert items() == []


def test_a_changed_fingerprinter_is_told_with_what_to_do(tmp_path: Path) -> None:
    own = {"REQUEST_FINGERPRINTER_CLASS": "crawler.OwnFingerprints"}
    scrapys: dict[str, str] = {}
    changes = [(scrapys, own, "are Scrapy's, and now"), (own, scrapys, "are a project's own, and now")]
    for first, second, text in changes:
        store = tmp_path / str(len(first))
        ours = dupefilter(FURUI_STORE=store, **first)
        ours.open()
        ours.request_seen(Request("http://127.0.0.1/"))
        ours.close("finished")
        with pytest.raises(furui.ConfigError, match=f"{text}.*: set REQUEST_FINGERPRINTER_CLASS as it was, or begin"):
            dupefilter(FURUI_STORE=store, **second).open()
    with pytest.raises(furui.ConfigError, match="size"):
        dupefilter(FURUI_STORE=tmp_path / "0", FURUI_MEMORY="1KiB").open()


def test_two_spiders_of_one_process_cannot_share_a_store(site: Site, tmp_path: Path) -> None:
    stats, log = crawl(site, OURS, f"FURUI_STORE={tmp_path / 'pages'}", "SPIDERS=2")
    assert "in use by this process: close the other object, opened at" in log
    assert "A store is for one spider at a time" in log
    assert sorted(site.take()) == list(range(400)) and stats["furui/new"] == 399


@pytest.mark.parametrize("form", ["of Scrapy 2.19", "of Scrapy 2.18", "cut off", "lines cut off"])
def test_scrapys_own_memory_is_taken_over(site: Site, tmp_path: Path, form: str) -> None:
    """A crawl that was begun with Scrapy's filter is ended with ours, and no page is fetched twice."""
    seen = tmp_path / "job" / "requests.seen"
    job = f"JOBDIR={seen.parent}"
    crawl(site, SCRAPYS, job, "CLOSESPIDER_PAGECOUNT=20")
    data = seen.read_bytes()
    known = len(data) // 22
    assert 100 < known < 390
    if "2.18" in form or "lines" in form:
        seen.write_text("".join(data[at + 2 : at + 22].hex() + "\n" for at in range(0, len(data), 22)))
    if "cut off" in form:
        with seen.open("ab") as file:
            file.write(b"0123456789" if "lines" in form else b"\0\x14fingerprint")
    data = seen.read_bytes()
    stats, log = crawl(site, OURS, job)
    assert sorted(site.take()) == [0, *range(400)]
    assert f"Imported {known} fingerprints of {seen}" in log
    assert (stats["furui/len"], stats["furui/new"]) == (399, 399 - known)
    assert seen.read_bytes() == data
    assert not list(seen.parent.glob("*import*"))
    stats, log = crawl(site, OURS, job)
    assert "Imported" not in log and stats["furui/new"] == 0


GARBAGE = [b"no fingerprints\n", b"none", b"\0\x14" + b"x" * 20 + b"\0\0", b"\xff" * 50, b"12" * 20 + b"\n12\n"]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_file_of_garbage_is_refused(tmp_path: Path, garbage: bytes) -> None:
    """A requests.seen that holds no fingerprints is an error that names it, and is not taken for an empty one."""
    seen = tmp_path / "requests.seen"
    seen.write_bytes(garbage)
    for _ in range(2):
        with pytest.raises(furui.ConfigError, match=f"{seen}: not the fingerprints"):
            dupefilter(JOBDIR=tmp_path).open()
    assert list(tmp_path.iterdir()) == [seen]


def test_filtered_requests_are_logged(site: Site) -> None:
    """Each filtered request is logged with the page that links it if DUPEFILTER_DEBUG is set, else only the first."""
    stats, log = crawl(site, OURS, "DUPEFILTER_DEBUG=1", "LOG_LEVEL=DEBUG")
    lines = [line for line in log.splitlines() if "[furui.scrapy] DEBUG: Filtered duplicate request: <GET" in line]
    assert len(lines) == stats["dupefilter/filtered"] == 400 * 12 - 399
    assert all(f"(referer: {site.url}" in line for line in lines)
    _, log = crawl(site, OURS, "LOG_LEVEL=DEBUG")
    assert log.count("Filtered duplicate request") == log.count("no more duplicates will be shown") == 1


def test_fingerprints_of_ones_own_need_not_be_hashes(site: Site) -> None:
    """Fingerprints that a project makes itself count whole, also if they are no hashes and begin alike."""
    stats, _ = crawl(site, OURS, "REQUEST_FINGERPRINTER_CLASS=crawler.OwnFingerprints")
    assert set(site.take()) == set(range(400))
    assert stats["furui/new"] > 399, "the order in a query makes a difference to these fingerprints"


@pytest.mark.parametrize("window", [16, "16"])
def test_a_window_forgets_requests(window: int | str) -> None:
    """After 16 requests a request is still known; after 17 it is new again."""
    ours = dupefilter(FURUI_WINDOW=window)
    ours.open()
    page, others = Request("http://127.0.0.1/"), (Request(f"http://127.0.0.1/{number}") for number in range(100))
    assert not ours.request_seen(page)
    assert not any(ours.request_seen(next(others)) for _ in range(15))
    assert ours.request_seen(page)
    assert not any(ours.request_seen(next(others)) for _ in range(16))
    assert not ours.request_seen(page)
    ours.close("finished")


@pytest.mark.parametrize("window", [0, "0", "-5", "a day", "h", "5 weeks"])
def test_an_invalid_window_is_refused(window: int | str) -> None:
    """A window that is no number of requests and no time is an error when the crawl begins."""
    with pytest.raises(furui.ConfigError, match="is no window"):
        dupefilter(FURUI_WINDOW=window).open()


def test_one_crawl_at_a_time_has_a_store(site: Site, tmp_path: Path) -> None:
    """A second crawl with the store of a running one fails and fetches nothing; the first one is unharmed."""
    store = f"FURUI_STORE={tmp_path / 'pages'}"
    site.hold_at = 200
    with Run("crawl", site.url, OURS, store) as first:
        assert site.held.wait(60)
        stats, log = crawl(site, OURS, store)
        assert "furui.errors.LockedError" in log and str(tmp_path / "pages") in log
        assert "downloader/request_count" not in stats
        site.go_on.set()
        assert first.result()["furui/new"] == 399
    assert sorted(site.take()) == list(range(400))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="SKIPPED: only Linux tells a process's memory")
def test_five_million_requests_take_little_memory(tmp_path: Path) -> None:
    """Five million fingerprints take no more than FURUI_MEMORY, where those of Scrapy's filter take over 400 MB."""

    def remember(job: str, *settings: str) -> Run:
        return Run("remember", "5000000", *settings, f"JOBDIR={tmp_path / job}")

    with remember("ours", OURS) as run, remember("scrapys", SCRAPYS) as other:
        ours, theirs = run.result(), other.result()
    assert (ours["repeats"], theirs["repeats"]) == (0, 0)
    assert ours["bytes"] <= 60e6
    assert theirs["bytes"] > 400e6
