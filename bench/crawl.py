#!/usr/bin/env python3
"""The running time of a crawl by Scrapy with each tier that knows which URLs were seen, on 1, 10 and 100 hosts.

Usage: python3 bench/crawl.py FURUI DIR [ROUNDS] [MODULE]

FURUI is the command, MODULE the module for Redis; without it, the row with a server is SKIPPED. The hosts are addresses
from 127.0.0.1 on, of one server in this process. Each crawl is a process of its own; all rows take turns. It needs
scrapy and furui, and Linux. What is printed is recorded in bench/runs.
"""

import asyncio
import json
import os
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES, LINKS = 2000, 16
HOSTS = [1, 10, 100]
#: A server answers after this time, in seconds, as one that is a country away.
DELAY = 0.02

FURUI = "furui.scrapy.DupeFilter"
#: Each row: its name, and the settings of the crawl. STORE is a path for a set that does not exist yet.
ROWS: dict[str, dict[str, Any]] = {
    "Scrapy's filter, in memory": {},
    "Scrapy's filter and queue in JOBDIR": {"JOBDIR": "STORE"},
    "furui's filter, in memory": {"DUPEFILTER_CLASS": FURUI},
    "furui's filter and queue in JOBDIR": {"DUPEFILTER_CLASS": FURUI, "JOBDIR": "STORE"},
    "furui's filter in Redis": {"DUPEFILTER_CLASS": "furui.scrapy.ClusterDupeFilter"},
    "furui seen, no cache": {"CACHE": "none"},
    "furui seen, recent": {"CACHE": "recent"},
    "furui seen, LRU": {"CACHE": "lru --lru 256"},
    "furui seen, LRU and SBFL, 1 %": {"CACHE": "lru+stable --lru 256 --counters 8192 --fpr 0.01"},
}


def links(page: int, hosts: int) -> Iterator[int]:
    """The pages to which a page links: two in a tree, so that all pages are reached, and others, mostly popular ones.

    Three of four of the latter are on its own host, as in the experiments with the paper. Nothing links to page 0.
    """
    chance = random.Random(page)
    yield from (2 * page + 1, 2 * page + 2)
    for _ in range(LINKS - 2):
        rank = int(PAGES ** chance.random())
        own = rank - rank % hosts + page % hosts
        yield own if chance.random() < 0.75 else rank


class Site:
    """The pages, on all addresses, and what was fetched of them."""

    def __init__(self) -> None:
        self.fetched: Counter[int] = Counter()
        self.bodies: list[bytes] = []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        started.wait()

    def url(self, page: int, hosts: int) -> str:
        return f"http://127.0.0.{page % hosts + 1}:{self.port}/articles/{page}.html"

    def make(self, hosts: int) -> None:
        targets = ([to for to in links(page, hosts) if 0 < to < PAGES] for page in range(PAGES))
        bodies = ("".join(f'<a href="{self.url(to, hosts)}">a</a>\n' for to in of_page) for of_page in targets)
        self.bodies = [body.encode() for body in bodies]

    async def serve(self, started: threading.Event) -> None:
        addresses = [f"127.0.0.{host + 1}" for host in range(max(HOSTS))]
        async with await asyncio.start_server(self.answer, addresses, self.port) as server:
            started.set()
            await server.serve_forever()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                page = int(head.split(b".html")[0].rsplit(b"/", 1)[1])
                self.fetched[page] += 1
                await asyncio.sleep(DELAY)
                body = self.bodies[page]
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
                writer.write(head + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def crawl(start: str, store: str, settings: dict[str, Any]) -> None:
    """Crawls, in a process of its own, and prints what it took."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.dupefilters import RFPDupeFilter
    from scrapy.utils.misc import load_object

    class Command(RFPDupeFilter):
        """The command as a coprocess, which is asked for one link after the other."""

        def open(self) -> None:
            options = ["--mark", "--memory", "1MiB", "--store", store, "--cache", *settings["CACHE"].split()]
            self.process = subprocess.Popen(
                [settings["COMMAND"], "seen", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )

        def request_seen(self, request: Any) -> bool:
            assert self.process.stdin and self.process.stdout
            self.process.stdin.write(self.fingerprinter.fingerprint(request).hex().encode() + b"\n")
            return self.process.stdout.read(2) == b"0\n"

        def close(self, reason: str) -> None:
            assert self.process.stdin
            self.process.stdin.close()
            if self.process.wait():
                raise RuntimeError("the command has failed")

    class Pages(scrapy.Spider):
        name = "pages"
        start_urls = [start]

        def parse(self, response: Any) -> Iterator[Any]:
            yield from response.follow_all(css="a")

    other = Command if "CACHE" in settings else RFPDupeFilter
    chosen: Any = load_object(settings.get("DUPEFILTER_CLASS", other))
    times: list[float] = []

    class Timed(chosen):  # type: ignore[misc]
        def request_seen(self, request: Any) -> Any:
            begin = time.perf_counter()
            seen = super().request_seen(request)
            times.append(time.perf_counter() - begin)
            return seen

    fixed = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False,
             "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0}
    process = CrawlerProcess({**fixed, **settings, "DUPEFILTER_CLASS": Timed})
    process.crawl(Pages)
    before, begin = processor_time(), time.monotonic()
    process.start()
    wall, cpu = time.monotonic() - begin, processor_time() - before
    memory = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    found = {"wall": wall, "cpu": cpu, "memory": memory * 1024 / 1e6, "links": len(times)}
    print(json.dumps({**found, "us": statistics.median(times) * 1e6, "in filter": sum(times)}))


def processor_time() -> float:
    """Seconds of this process, and of its processes that have ended."""
    return sum(os.times()[:4])


class Redis:
    """A server with the module, on loopback."""

    def __init__(self, module: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        command = ["redis-server", *options, "--loadmodule", Path(module).resolve()]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e6


def measure(site: Site, hosts: int, row: str, command: str, folder: Path, redis: Redis | None) -> dict[str, float]:
    shutil.rmtree(folder / "run", ignore_errors=True)
    (folder / "run").mkdir(parents=True)
    store = str(folder / "run" / "store")
    settings = {name: store if value == "STORE" else value for name, value in ROWS[row].items()}
    settings["COMMAND"] = command
    is_remote = redis is not None and row.endswith("Redis")
    if redis is not None and is_remote:
        settings |= {"FURUI_URL": f"redis://127.0.0.1:{redis.port}", "FURUI_NAME": f"crawl{time.monotonic_ns()}"}
    before = redis.cpu() if redis is not None else 0.0
    site.fetched.clear()
    arguments = [sys.executable, __file__, "--crawl", site.url(0, hosts), store, json.dumps(settings)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    found: dict[str, float] = json.loads(done.stdout)
    if redis is not None and is_remote:
        found["cpu"] += redis.cpu() - before
        found["memory"] += redis.memory()
    found["twice"] = sum(site.fetched.values()) - len(site.fetched)
    found["missed"] = PAGES - len(site.fetched)
    return found


def main(command: str, folder: Path, rounds: int, module: str | None) -> None:
    site = Site()
    redis = Redis(module, folder / "redis") if module else None
    rows = [row for row in ROWS if redis or not row.endswith("Redis")]
    if not redis:
        print("SKIPPED: the row of Redis, because no module for it was named")
    runs: dict[tuple[int, str], list[dict[str, float]]] = {(hosts, row): [] for hosts in HOSTS for row in rows}
    try:
        for number in range(rounds):
            for hosts in HOSTS:
                site.make(hosts)
                # The rows take turns, and no row always comes after the same one.
                for row in random.Random(number * 1000 + hosts).sample(rows, len(rows)):
                    found = measure(site, hosts, row, command, folder, redis)
                    runs[hosts, row].append(found)
                    print(f"round {number + 1}, {hosts} hosts, {row}: {json.dumps(found)}", flush=True)
    except KeyboardInterrupt:
        print("stopped before the last round was at its end")
    finally:
        if redis:
            redis.process.terminate()
            redis.process.wait()
    names = {"wall": "wall s", "cpu": "CPU s", "in filter": "s in the filter", "us": "us a link", "memory": "peak MB",
             "links": "links", "twice": "pages fetched twice", "missed": "pages missed"}
    for hosts in HOSTS:
        counts = sorted(len(runs[hosts, row]) for row in rows)
        if not counts[0]:
            continue
        number = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} or {counts[-1]}"
        print(f"\n{hosts} hosts, {PAGES} pages, medians of {number} crawls; of wall s also the least and the most\n")
        print("| tier | " + " | ".join(names.values()) + " |\n|---|" + "--:|" * len(names))
        for row in rows:
            of = {name: [run[name] for run in runs[hosts, row]] for name in names}
            cells = [f"{statistics.median(of['wall']):.2f} ({min(of['wall']):.2f} to {max(of['wall']):.2f})"]
            cells += [f"{statistics.median(of[name]):.2f}" for name in ("cpu", "in filter")]
            cells += [f"{statistics.median(of['us']):.1f}"]
            cells += [f"{statistics.median(of[name]):.0f}" for name in ("memory", "links", "twice", "missed")]
            print(f"| {row} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "--crawl":
        crawl(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
    else:
        arguments = dict(enumerate(sys.argv[1:]))
        main(arguments[0], Path(arguments[1]), int(arguments.get(2, "3")), arguments.get(3))
