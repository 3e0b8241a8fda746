"""A crawl whose items are published, in a process of its own, which runs this file and prints Scrapy's statistics.

publisher.py KIND NUMBER NAME=VALUE...: the items are of this kind. Each is compared, after the pipelines, with itself
as it was before. With STOP=FILE the spider waits before the second half of its items until some of them are published
and the file is there.
"""

import asyncio
import copy
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import attrs
import scrapy
from crawler import FIXED
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response


@dataclasses.dataclass
class Data:
    url: str
    title: str
    text: list[str]


@attrs.define
class Attrs:
    url: str
    title: str
    text: list[str]


class Item(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    text = scrapy.Field()


def pydantic(**fields: Any) -> Any:
    from pydantic import create_model

    return create_model("Model", url=(str, ...), title=(str, ...), text=(list[str], ...))(**fields)


KINDS: dict[str, Callable[..., Any]] = {
    "dict": dict, "dataclass": Data, "attrs": Attrs, "Item": Item, "pydantic": pydantic
}


class Items(scrapy.Spider):
    """Makes items of one page."""

    name = "items"
    kind = "dict"
    number = 0
    start_urls = [Path(__file__).as_uri()]
    passed = 0

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        self.crawler.signals.connect(self.item_scraped, scrapy.signals.item_scraped)
        self.before: dict[str, Any] = {}
        stop = self.settings.get("STOP")
        for number in range(self.number):
            if stop and number == self.number // 2:
                while not (self.crawler.stats and self.crawler.stats.get_value("furui/published")):
                    await asyncio.sleep(0.01)
                self.logger.info("half of the items")
                while not Path(stop).exists():
                    await asyncio.sleep(0.01)
            url = f"http://example.org/{number}"
            item = KINDS[self.kind](url=url, title=f"Page {number}", text=["crawled by", f"spider{number}"])
            self.before[url] = copy.deepcopy(item)
            yield item

    def item_scraped(self, item: Any) -> None:
        url = item["url"] if self.kind in ("dict", "Item") else item.url
        self.passed += item == self.before[url]


def main(kind: str, number: str, *settings: str) -> None:
    process = CrawlerProcess(
        {**FIXED, "ITEM_PIPELINES": {"furui.scrapy.Publish": 900}, **dict(each.split("=", 1) for each in settings)}
    )
    crawler = process.create_crawler(Items)
    process.crawl(crawler, kind=kind, number=int(number))
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    passed = getattr(crawler.spider, "passed", 0)
    print(json.dumps({**stats, "passed": passed}, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
