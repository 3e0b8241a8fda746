"""Several processes share a set in a cluster, whose slots move and whose masters are killed meanwhile."""

import importlib
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

furui = pytest.importorskip("furui", reason="SKIPPED: the wheel of furui is not installed")
pytest.importorskip("scrapy", reason="SKIPPED: Scrapy is not installed")

from cluster import Cluster, until  # noqa: E402
from furui.valkey import Seen  # noqa: E402
from spiders import Run  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "furui-py" / "tests"))
from crawler import Site  # noqa: E402

# One process runs these tests, which share a cluster.
pytestmark = pytest.mark.xdist_group("cluster")

PAGES = 2000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, program: str) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(PAGES) as site:
        threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
        yield site
        site.shutdown()


class Adder(threading.Thread):
    """Adds keys, batch by batch, and notes those that were new, and those that were answered, in order."""

    def __init__(self, client: Any, name: str, keys: list[int], batch: int) -> None:
        super().__init__(daemon=True)
        self.seen = Seen(client, name)
        self.keys, self.batch = keys, batch
        self.answered: list[int] = []
        self.new: list[int] = []
        self.error: BaseException | None = None
        #: Set to end before all keys are added.
        self.is_enough = threading.Event()

    def run(self) -> None:
        try:
            for start in range(0, len(self.keys), self.batch):
                if self.is_enough.is_set():
                    break
                part = self.keys[start : start + self.batch]
                answers = self.seen.add_many(part)
                self.new += [key for key, is_new in zip(part, answers, strict=True) if is_new]
                self.answered += part
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        self.join(240)
        assert not self.is_alive() and self.error is None, self.error


def clients(cluster: Cluster) -> list[Any]:
    """A client of each library, if both are installed."""
    try:
        return [cluster.client(), cluster.client(importlib.import_module("valkey").ValkeyCluster)]
    except ModuleNotFoundError:
        return [cluster.client(), cluster.client()]


def crawl(cluster: Cluster, site: Site, name: str) -> tuple[Run, Run]:
    """Two spiders that begin with pages of their own."""
    settings = {"FURUI_URL": f"redis://127.0.0.1:{cluster.living()[-1].port}", "FURUI_NAME": name}
    seeds = [[f"{site.url}?page={page}&of=site" for page in pages] for pages in (range(4), range(4, 8))]
    return Run(seeds[0], **settings), Run(seeds[1], **settings)


def test_two_spiders_fetch_every_page_once(cluster: Cluster, site: Site) -> None:
    """Two processes of Scrapy crawl a site from disjoint pages on: each page is fetched by one of them, once."""
    a, b = crawl(cluster, site, "crawl")
    with a, b:
        stats = [a.stats(), b.stats()]
    assert sorted(site.take()) == list(range(PAGES))
    shares = [one["downloader/response_status_count/200"] for one in stats]
    assert sum(shares) == PAGES and min(shares) > 100
    assert sum(one["furui/new"] for one in stats) == len(Seen(cluster.client(), "crawl")) == PAGES
    print(f"two spiders: {shares[0]} and {shares[1]} pages, none of them twice")


def test_a_client_of_one_node_is_refused(cluster: Cluster) -> None:
    with pytest.raises(furui.ConfigError, match="give a client of the whole cluster"):
        for name in "abcdefgh":
            Seen(redis.Redis(port=cluster.living()[0].port), name)


def test_nothing_is_forgotten_when_slots_move(cluster: Cluster) -> None:
    """While keys are added, 2,500 slots move to another node. Every key is new once, and all are seen afterwards."""
    keys = [list(range(i * 10**7, i * 10**7 + 10**6)) for i in range(2)]
    adders = [Adder(client, "reshard", part, 500) for client, part in zip(clients(cluster), keys)]
    for adder in adders:
        adder.start()
    until(lambda: all(len(adder.answered) >= 5000 for adder in adders), "5,000 keys each")
    before = sum(len(adder.answered) for adder in adders)
    with cluster.resharding(2500):
        pass
    during = sum(len(adder.answered) for adder in adders) - before
    for adder in adders:
        adder.is_enough.set()
    seen = Seen(cluster.client(), "reshard")
    for adder in adders:
        adder.finish()
        assert adder.new == adder.answered and adder.seen.stats()["uncertain"] == 0
        assert all(seen.has_many(adder.answered))
        assert not any(seen.add_many(adder.answered))
    assert during > 0
    assert len(seen) == sum(len(adder.answered) for adder in adders)
    print(f"slots moved: {during} keys were added meanwhile, none forgotten, none new twice")


def test_slots_migrate_atomically_under_load(cluster: Cluster, program: str) -> None:
    """Valkey 9 moves slots as a replica would get them, with commands that no limit of the target may refuse."""
    if program == "redis":
        pytest.skip("SKIPPED: Redis 7 moves slots key by key")
    client = cluster.client()
    source, target = cluster.masters()[:2]
    target("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    slots = {slot for first, last, (_, port, *_), *_ in source("CLUSTER", "SLOTS") if port == source.port
             for slot in range(first, last + 1)}
    names = [name for name in (f"key {number}" for number in range(2000)) if client.keyslot(name) in slots][:40]
    kinds = {
        "set": lambda name, members: ["SEEN.ADD", name, *members],
        "numbers": lambda name, members: ["DICT.NUMBER", name, *members],
        "filter": lambda name, members: ["SIEVE.ADD", name, *members],
    }
    commands = {}
    for name, kind in zip(names, 14 * list(kinds)):
        commands[name] = kinds[kind]
        if kind == "filter":
            client.execute_command("SIEVE.RESERVE", name, "scalable", "0.001", 1000)
        for first in range(0, 10_000, 1000):
            client.execute_command(*commands[name](name, [f"member {first + number}" for number in range(1000)]))
    adder = Adder(client, "migrated", list(range(10**8, 10**8 + 10**6)), 500)
    adder.start()
    until(lambda: len(adder.answered) >= 5000, "5,000 keys")
    moving = sorted({client.keyslot(name) for name in names})
    ranges = [number for slot in moving for number in (slot, slot)]
    source("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE", target("CLUSTER", "MYID"))
    until(lambda: target("CLUSTER", "COUNTKEYSINSLOT", moving[0]) > 0 and is_done(source), "a migration")
    for name in names:
        with pytest.raises(redis.exceptions.MovedError):
            source("EXISTS", name)
        command = commands[name](name, ["member 9999"])
        if command[0] != "DICT.NUMBER":
            assert client.execute_command(*command) == [0], name
        else:
            assert client.execute_command("DICT.COUNT", name) == 10_000
    adder.is_enough.set()
    adder.finish()
    assert adder.new == adder.answered and all(Seen(client, "migrated").has_many(adder.answered))
    target("CONFIG", "SET", "furui.max-key-memory", 4 << 30)


def is_done(node: Any) -> bool:
    found = node("CLUSTER", "GETSLOTMIGRATIONS")
    # Clients of RESP3 get maps.
    found = [one if isinstance(one, dict) else dict(zip(one[::2], one[1::2])) for one in found]
    assert all(one[b"state"] not in (b"failed", b"cancelled") for one in found), found
    return bool(found) and all(one[b"state"] == b"success" for one in found)


def test_a_killed_master_costs_repeats_only(cluster: Cluster) -> None:
    """A master whose replica lags is killed while two processes add the same keys. Each key is new for one at least.

    Those that are new twice had been added since the replica was last up to date, or were on their way.
    """
    chance, keys = random.Random(4), list(range(200_000))
    orders = [chance.sample(keys, len(keys)) for _ in range(2)]
    adders = [Adder(client, "failover", order, 200) for client, order in zip(clients(cluster), orders)]
    for adder in adders:
        adder.start()
    until(lambda: all(len(adder.answered) >= 20_000 for adder in adders), "20,000 keys each")
    master = cluster.masters()[0]
    replica = cluster.replica_of(master)
    # All that was answered until now is in the replica when it has got as far.
    marks = [len(adder.answered) for adder in adders]
    offset = master.client.info("replication")["master_repl_offset"]
    until(lambda: replica.client.info("replication")["slave_repl_offset"] >= offset, "an up-to-date replica")
    # The replica is cut off, and cannot come back.
    replica("CONFIG", "SET", "masterauth", "wrong")
    master("CLIENT", "KILL", "TYPE", "replica")
    until(lambda: all(len(adder.answered) >= mark + 2000 for adder, mark in zip(adders, marks)), "2,000 keys more")
    master.kill()
    start = time.monotonic()
    last = [len(adder.answered) for adder in adders]
    until(lambda: all(len(adder.answered) > count + 1000 for adder, count in zip(adders, last)), "a failover")
    pause = time.monotonic() - start
    for adder in adders:
        adder.finish()
    repeats = len(adders[0].new) + len(adders[1].new) - len(set(adders[0].new + adders[1].new))
    uncertain = sum(adder.seen.stats()["uncertain"] for adder in adders)
    # One batch each may have been answered since the master was killed.
    lag = sum(count - mark + adder.batch for count, mark, adder in zip(last, marks, adders))
    assert set(adders[0].new + adders[1].new) == set(keys), "a key was new for nobody"
    assert len(Seen(cluster.client(), "failover")) <= len(keys)
    assert repeats <= lag + uncertain
    replica("CONFIG", "SET", "masterauth", "")
    print(
        f"master killed: {repeats} repeats, of {lag} keys since the replica was up to date and {uncertain} that were "
        f"on their way; {pause:.1f} s until keys were answered again"
    )
    master.start()
    cluster.until_whole()


def test_spiders_survive_a_killed_master(cluster: Cluster, site: Site) -> None:
    """A master is killed in the middle of a crawl: every page is fetched."""
    a, b = crawl(cluster, site, "killed")
    with a, b:
        until(lambda: len(site.fetched) > PAGES // 4, "a quarter of the pages")
        master = cluster.masters()[0]
        master.kill()
        stats = [a.stats(), b.stats()]
    fetched = site.take()
    assert set(fetched) == set(range(PAGES))
    repeats, uncertain = len(fetched) - PAGES, sum(one["furui/uncertain"] for one in stats)
    kept = len(Seen(cluster.client(), "killed"))
    print(f"master killed in a crawl: {repeats} pages twice, {uncertain} requests were on their way, {kept} are kept")
    # What was called new more often than it is kept was forgotten, or was on its way.
    assert repeats == sum(one["furui/new"] for one in stats) - PAGES
    master.start()
    cluster.until_whole()


def test_millions_of_keys_move(cluster: Cluster, program: str) -> None:
    """A set of five million keys, in Redis of one million, has as many when 2,500 of its slots have moved."""
    count = 1_000_000 if program == "redis" else 5_000_000
    numpy: Any = pytest.importorskip("numpy", reason="SKIPPED: numpy is not installed")
    seen = Seen(cluster.client(), "large")
    start = time.monotonic()
    for first in range(0, count, 250_000):
        assert seen.add_many(numpy.arange(first, first + 250_000)).all()
    added = time.monotonic()
    assert len(seen) == count
    with cluster.resharding(2500):
        pass
    moved = time.monotonic()
    assert len(seen) == count
    chance = random.Random(3)
    some = [chance.randrange(2 * count) for _ in range(100_000)]
    assert seen.has_many(some) == [key < count for key in some]
    print(f"{count:,} keys: added in {added - start:.1f} s, 2,500 slots moved in {moved - added:.1f} s")
