"""Spiders that share what they have seen, each in a process of its own, which runs this file.

spiders.py SEEDS NAME=VALUE...: crawls from the pages on, and prints Scrapy's statistics as JSON.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

FIXED = {
    "DUPEFILTER_CLASS": "furui.scrapy.ClusterDupeFilter",
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "LOG_LEVEL": "INFO",
}


class Pages(Spider):
    """Follows every link of every page. The pages that it begins with are filtered too, if others have them."""

    name = "pages"

    async def start(self) -> AsyncIterator[Request]:
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


class Run:
    """A process that runs this file. It ends with the block, whatever happens in it."""

    def __init__(self, seeds: list[str], **settings: object) -> None:
        arguments = [",".join(seeds), *(f"{name}={value}" for name, value in settings.items())]
        self.process = subprocess.Popen(
            [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def stats(self) -> dict[str, Any]:
        printed, log = self.process.communicate(timeout=240)
        assert self.process.returncode == 0, log
        stats: dict[str, Any] = json.loads(printed)
        assert stats["finish_reason"] == "finished" and not stats.get("log_count/ERROR"), log
        return stats

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


if __name__ == "__main__":
    process = CrawlerProcess({**FIXED, **dict(setting.split("=", 1) for setting in sys.argv[2:])})
    crawler = process.create_crawler(Pages)
    process.crawl(crawler, start_urls=sys.argv[1].split(","))
    process.start()
    print(json.dumps(crawler.stats.get_stats() if crawler.stats else {}, default=str))
