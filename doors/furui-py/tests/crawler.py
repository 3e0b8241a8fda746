"""A site on loopback, and crawls of it by Scrapy, each in a process of its own, which runs this file.

crawler.py crawl URL NAME=VALUE...: crawls a site from a page on, and prints Scrapy's statistics as JSON.
crawler.py remember NUMBER NAME=VALUE...: shows random requests to the filter, and prints by how much memory grew.
"""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.test import get_crawler

FIXED = {
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    "LOG_LEVEL": "INFO",
}


class Site(ThreadingHTTPServer):
    """A generated site, which notes what is fetched. Every page has twelve links, none of them to the start page."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, pages: int) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        chance = random.Random(8)
        self.bodies = [self.body(pages, chance) for _ in range(pages)]
        self.fetched: list[int] = []
        #: The answer with this number is held back until `go_on` is set, so that a crawl cannot end before.
        self.hold_at = 0
        self.lock, self.held, self.go_on = threading.Lock(), threading.Event(), threading.Event()
        #: The pages that are answered by a status, or None for no answer at all, and those that lead to another page.
        self.broken: dict[int, int | None] = {}
        self.moved: dict[int, int] = {}

    @staticmethod
    def body(pages: int, chance: random.Random) -> bytes:
        targets = chance.choices(range(1, pages), k=11)
        forms = ["/?page={}&amp;of=site", "/?of=site&amp;page={}", "?of=site&amp;page={}#part"]
        links = [chance.choice(forms).format(target) for target in [*targets, targets[0]]]
        return "".join(f'<a href="{link}">a</a>\n' for link in links).encode()

    def take(self) -> list[int]:
        """The pages that were fetched since the last call, in order."""
        with self.lock:
            fetched, self.fetched = self.fetched, []
        return fetched


class Page(BaseHTTPRequestHandler):
    """Answers with the page whose number is in the query, by default with the start page."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Site

    def do_GET(self) -> None:
        number = int(parse_qs(urlsplit(self.path).query).get("page", ["0"])[0])
        with self.server.lock:
            self.server.fetched.append(number)
            is_held = len(self.server.fetched) == self.server.hold_at
        if is_held:
            self.server.held.set()
            self.server.go_on.wait(60)
        status = self.server.broken.get(number, 200)
        if status is None:
            self.close_connection = True
            return
        if number in self.server.moved:
            self.send_response(302)
            self.send_header("Location", f"/?page={self.server.moved[number]}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(self.server.bodies[number])))
        self.end_headers()
        self.wfile.write(self.server.bodies[number])

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Run:
    """A process that runs a file, by default this one. It ends with the block, and in any case after 100 seconds."""

    def __init__(self, *arguments: str, script: str | Path = __file__) -> None:
        command = [sys.executable, script, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.clock = threading.Timer(100, self.process.kill)
        self.clock.start()
        self.log = ""

    def read_until(self, text: str) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.log += line
            if text in line:
                return
        raise AssertionError(f"no {text} in the log: {self.log}")

    def result(self) -> dict[str, Any]:
        assert self.process.stderr and self.process.stdout
        self.log += self.process.stderr.read()
        printed = self.process.stdout.read()
        assert self.process.wait() == 0, self.log
        result: dict[str, Any] = json.loads(printed)
        return result

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.clock.cancel()
        self.process.kill()
        self.process.communicate()


class Pages(Spider):
    """Follows every link of every page."""

    name = "pages"

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        if f"page={self.settings.get('CONFUSING')}&" in f"{response.url}&":
            raise ValueError("a page that the spider does not understand")
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


class OwnFingerprints:
    """Fingerprints of a project's own making, which are no hashes, and all begin alike."""

    def fingerprint(self, request: Request) -> bytes:
        return b"page of the site: " + request.url.encode()


def crawl(url: str, settings: dict[str, Any]) -> dict[str, Any]:
    process = CrawlerProcess({**FIXED, **settings})
    crawlers = [process.create_crawler(Pages) for _ in range(int(settings.get("SPIDERS", "1")))]
    for crawler in crawlers:
        process.crawl(crawler, start_urls=[url])
    process.start()
    return crawlers[0].stats.get_stats() if crawlers[0].stats else {}


def remember(number: int, settings: dict[str, Any]) -> dict[str, int]:
    crawler = get_crawler(Pages, settings)
    chance = random.Random(5)
    crawler.request_fingerprinter = SimpleNamespace(fingerprint=lambda _: chance.randbytes(20))
    dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
    dupefilter.open()
    request = Request("http://127.0.0.1/")
    repeats, before, most = 0, anonymous_memory(), 0
    for step in range(1, number + 1):
        repeats += dupefilter.request_seen(request)
        if step % 50_000 == 0:
            most = max(most, anonymous_memory())
    dupefilter.close("finished")
    return {"bytes": most - before, "repeats": repeats}


def anonymous_memory() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


if __name__ == "__main__":
    settings = dict(setting.split("=", 1) for setting in sys.argv[3:])
    result = crawl(sys.argv[2], settings) if sys.argv[1] == "crawl" else remember(int(sys.argv[2]), settings)
    print(json.dumps(result, default=str))
