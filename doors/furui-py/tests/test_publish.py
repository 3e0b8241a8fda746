"""The items of a crawl are found by the search of a real node, and what is not published is counted and told."""

import asyncio
import json
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import furui
import pytest
from crawler import Run
from furui.scrapy import Publish
from scrapy.utils.test import get_crawler

SCRIPT = Path(__file__).with_name("publisher.py")


class Node:
    """A node on loopback, which is alone in its network. Its port stays the same when it is started again."""

    def __init__(self, command: Path, folder: Path, *options: str | Path) -> None:
        listen = ["--listen", "/ip4/127.0.0.1/tcp/0", "--data", folder, "--no-mdns", *options]
        self.command = [command, "node", *listen, "--http"]
        self.http = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([*self.command, self.http], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("http "):
                self.url = line.split()[1]
                self.http = self.url.removeprefix("http://")
                return
        raise AssertionError(f"the node has ended with status {self.process.wait()}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()

    def found(self, query: str) -> list[str]:
        """The URLs of all results, sorted."""
        asked = urllib.request.urlopen(f"{self.url}/search?{urlencode({'q': query, 'limit': 1000})}")
        with asked as lines:
            results = [json.loads(line) for line in lines]
        assert "total" in results[-1]
        return sorted(result["url"] for result in results if "url" in result)


@pytest.fixture(scope="session")
def with_node(command: Path) -> Path:
    if subprocess.run([command, "node", "--help"], capture_output=True, check=False).returncode:
        pytest.skip("SKIPPED: the program furui has no nodes: build it with the feature node")
    return command


@pytest.fixture
def node(with_node: Path, tmp_path: Path) -> Iterator[Node]:
    node = Node(with_node, tmp_path / "node")
    yield node
    node.kill()


def crawl(kind: str, number: int, *settings: str) -> tuple[dict[str, Any], str]:
    with Run(kind, str(number), *settings, script=SCRIPT) as run:
        return run.result(), run.log


def urls(number: int) -> list[str]:
    return sorted(f"http://example.org/{each}" for each in range(number))


def publish(node: str, **settings: object) -> Publish:
    crawler = get_crawler(settings_dict={"FURUI_NODE": node, **settings})
    return Publish.from_crawler(crawler)


def counts(pipeline: Publish) -> dict[str, int]:
    assert pipeline.crawler.stats
    stats = pipeline.crawler.stats.get_stats()
    return {name: stats.get(f"furui/{name}", 0) for name in ("published", "refused", "lost")}


async def process(pipeline: Publish, items: list[Any]) -> None:
    """Lets a whole crawl of items through, all at once."""
    await pipeline.open_spider()
    passed = await asyncio.gather(*(pipeline.process_item(item) for item in items))
    assert all(after is before for after, before in zip(passed, items, strict=True))
    await pipeline.close_spider()


def page(number: int, **fields: Any) -> dict[str, Any]:
    return {"url": f"http://example.org/{number}", "title": "a page", "text": f"crawled {number}"} | fields


@pytest.mark.parametrize("kind", ["dict", "dataclass", "attrs", "Item", "pydantic"])
def test_the_items_of_a_crawl_are_found(node: Node, kind: str) -> None:
    """All items of a crawl are published when it ends, also the last ones, and pass the pipeline unchanged."""
    if kind == "pydantic":
        pytest.importorskip("pydantic", reason="SKIPPED: there is no pydantic")
    number = 600 if kind == "dict" else 20
    stats, log = crawl(kind, number, f"FURUI_NODE={node.url}")
    assert (stats["furui/published"], stats["item_scraped_count"], stats["passed"]) == (number, number, number), log
    assert "furui/lost" not in stats and "furui/refused" not in stats
    assert node.found("crawled") == urls(number)
    assert node.found('"page 19" spider19') == ["http://example.org/19"]
    stats, _ = crawl(kind, number, f"FURUI_NODE={node.url}")
    assert stats["furui/published"] == number and node.found("crawled") == urls(number)


def test_what_is_no_document_is_refused_with_the_reason(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    """Items that are no documents pass, are counted and told with the reason, and the others are published."""
    bad: dict[str, Any] = {
        "its URL is missing, the field 'url'": {"title": "a page"},
        "its field 'text' has bytes": page(1, text=b"bytes"),
        "No adapter found": object(),
        "surrogates not allowed": page(2, text="\ud800"),
        "a document without words could never be found": page(3, title="", text=[]),
        "/relative is not published": page(4, url="/relative"),
        "http://example.org/5 is not published": page(5, text="long " * 200_000),
    }
    pipeline = publish(node.url)
    asyncio.run(process(pipeline, [page(0), *bad.values(), page(9)]))
    assert counts(pipeline) == {"published": 2, "refused": len(bad), "lost": 0}
    told = [record.message for record in caplog.records if "is not published" in record.message]
    assert len(told) == len(bad)
    for reason in bad:
        assert any(reason in message for message in told), (reason, told)
    assert node.found("crawled") == ["http://example.org/0", "http://example.org/9"]


def test_fields_have_other_names_and_several_texts(node: Node) -> None:
    pipeline = publish(node.url, FURUI_FIELDS='{"url": "link", "text": "body"}')
    item = {"link": "http://example.org/", "title": ["one", "title"], "body": ["crawled text", None, "of 2"], "url": 3}
    asyncio.run(process(pipeline, [item]))
    assert counts(pipeline) == {"published": 1, "refused": 0, "lost": 0}
    assert node.found('"one title" crawled text of 2') == ["http://example.org/"]


class Chosen(Publish):
    def document(self, item: Any) -> dict[str, str] | None:
        return super().document(item) if "url" in item else None


def test_a_subclass_says_which_items_are_documents(node: Node) -> None:
    pipeline = Chosen.from_crawler(get_crawler(settings_dict={"FURUI_NODE": node.url}))
    asyncio.run(process(pipeline, [page(0), {"image": 1}]))
    assert counts(pipeline) == {"published": 1, "refused": 0, "lost": 0}


def test_the_last_text_of_a_page_is_found(node: Node) -> None:
    """Of several items with one URL, the last one is found."""
    asyncio.run(process(publish(node.url), [page(0, text=f"crawled version{version}") for version in range(600)]))
    assert node.found("crawled") == node.found("version599") == ["http://example.org/0"]


def test_items_wait_while_the_node_does_not_answer(node: Node) -> None:
    """While a batch is sent, one further batch is kept in memory, and the other items wait. None is lost."""

    async def all_items() -> list[int]:
        await pipeline.open_spider()
        node.process.send_signal(signal.SIGSTOP)
        items = [asyncio.ensure_future(pipeline.process_item(page(number))) for number in range(1000)]
        await asyncio.wait(items[1:257])
        held = [sum(item.done() for item in items), len(pipeline.batch)]
        node.process.send_signal(signal.SIGCONT)
        await asyncio.gather(*items)
        large = [page(number, text="word " * 40_000) for number in range(1000, 1020)]
        node.process.send_signal(signal.SIGSTOP)
        items = [asyncio.ensure_future(pipeline.process_item(item)) for item in large]
        await asyncio.wait(items[1:7])
        held += [sum(item.done() for item in items), len(pipeline.batch)]
        node.process.send_signal(signal.SIGCONT)
        await asyncio.gather(*items)
        await pipeline.close_spider()
        return held

    pipeline = publish(node.url)
    # Twenty items of 200 kB: five are a batch, of which the one that is sent is no part.
    assert asyncio.run(all_items()) == [256, 256, 6, 6]
    assert counts(pipeline) == {"published": 1020, "refused": 0, "lost": 0}
    assert node.found("crawled") == urls(1000)


def test_a_node_that_is_started_again_gets_everything_once(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    """A batch whose answer was lost is sent again, and a node that is down is waited for."""

    async def all_items() -> None:
        await pipeline.open_spider()
        node.process.send_signal(signal.SIGSTOP)
        items = [asyncio.ensure_future(pipeline.process_item(page(number))) for number in range(600)]
        await asyncio.wait(items[1:257])
        node.kill()
        while "takes no documents" not in caplog.text:
            await asyncio.sleep(0)
        await asyncio.to_thread(node.start)
        await asyncio.gather(*items)
        await pipeline.close_spider()

    pipeline = publish(node.url)
    asyncio.run(all_items())
    assert counts(pipeline) == {"published": 600, "refused": 0, "lost": 0}
    assert "it is asked again for 30 seconds" in caplog.text
    assert node.found("crawled") == urls(600)


def test_what_is_lost_is_counted_and_told(node: Node, tmp_path: Path) -> None:
    """A crawl ends although its node was killed, and says how many documents are not published."""
    go_on = tmp_path / "go on"
    settings = [f"FURUI_NODE={node.url}", f"STOP={go_on}", "FURUI_PATIENCE=0.1"]
    with Run("dict", "600", *settings, script=SCRIPT) as run:
        run.read_until("half of the items")
        node.kill()
        go_on.touch()
        stats = run.result()
    assert stats["furui/published"] + stats["furui/lost"] == stats["item_scraped_count"] == stats["passed"] == 600
    assert stats["furui/lost"] >= 300 and stats["finish_reason"] == "finished"
    told = [line for line in run.log.splitlines() if "documents are not published, from http://example.org/" in line]
    assert sum(int(line.split("ERROR: ")[1].split()[0]) for line in told) == stats["furui/lost"]
    assert all(f"{node.url} takes no documents: " in line for line in told)
    node.start()
    assert len(node.found("crawled")) >= stats["furui/published"]


def test_no_crawl_begins_without_its_node(with_node: Path, node: Node, tmp_path: Path) -> None:
    """A wrong address, and a wrong token, are errors before anything is fetched."""
    node.kill()
    stats, log = crawl("dict", 1, f"FURUI_NODE={node.url}", "FURUI_PATIENCE=0")
    assert f"{node.url} takes no documents: [Errno" in log and "FURUI_NODE names the address" in log
    assert "downloader/request_count" not in stats and stats["passed"] == 0
    token = tmp_path / "token"
    guarded = Node(with_node, tmp_path / "guarded", "--http-token", token)
    try:
        for wrong in ([], ["FURUI_TOKEN=wrong"]):
            stats, log = crawl("dict", 1, f"FURUI_NODE={guarded.url}", *wrong)
            assert f"{guarded.url} refuses them: this node asks for its token" in log
            assert "downloader/request_count" not in stats and stats["passed"] == 0
        stats, log = crawl("dict", 1, f"FURUI_NODE={guarded.url}", f"FURUI_TOKEN={token.read_text().strip()}")
        assert stats["furui/published"] == 1
        assert token.read_text().strip() not in log
    finally:
        guarded.kill()


WRONG: list[dict[str, Any]] = [
    {"FURUI_NODE": "127.0.0.1:7717"},
    {"FURUI_NODE": "http://me:secret@127.0.0.1"},
    {"FURUI_NODE": "http://host:port"},
    {"FURUI_FIELDS": {"body": "text"}},
    {"FURUI_TOKEN": "a secret\nof two lines"},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    name = next(iter(wrong))
    with pytest.raises(furui.ConfigError, match=name) as error:
        Publish.from_crawler(get_crawler(settings_dict=wrong))
    assert "secret" not in str(error.value)


def test_a_stranger_at_the_address_is_no_node() -> None:
    """A server that is no node is told from one by its answer, and no redirection is followed."""

    class Stranger(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = answers.pop(0)
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    asked: list[str] = []
    sums = b'{"documents":0,"scarce":0}\n'
    bodies = [b"<html>", b"", sums, b'{"line":7,"error":""}\n', b'{"done":true}\n', b"[1]\n", b"{\n", sums * 5000]
    answers = [(302, b""), (404, b""), *((200, body) for body in bodies)]
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        while answers:
            with pytest.raises(furui.ConfigError, match="FURUI_NODE names the address"):
                asyncio.run(publish(f"http://127.0.0.1:{server.server_port}", FURUI_PATIENCE=0).open_spider())
        server.shutdown()
    assert asked == ["/publish"] * 10
