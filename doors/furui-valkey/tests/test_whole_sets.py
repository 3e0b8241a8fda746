"""Whole sets, which are spread over many keys, go to a store and come from one, in servers and in a cluster."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from server import Server

furui = pytest.importorskip("furui", reason="SKIPPED: the wheel of furui is not installed")

from cluster import Cluster  # noqa: E402
from furui.valkey import Seen, dump, load, remove  # noqa: E402

KEYS = [f"https://example.org/{number}" for number in range(200_000)]
OTHERS = [f"https://example.org/{number}" for number in range(200_000, 300_000)]


def verify(store: Path) -> None:
    """Lets the program check all files of a store."""
    done = subprocess.run([os.environ["FURUI_PROGRAM"], "verify", store], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def comes_back(client: Any, folder: Path, shards: int) -> None:
    """A set goes to a store and back under another name, and a local set to the server: each key is seen, no other."""
    seen = Seen(client, "crawl", shards=shards)
    seen.add_many(KEYS)
    dump(client, "crawl", folder / "crawl")
    verify(folder / "crawl")
    with furui.Seen(folder / "crawl", read_only=True) as stored:
        assert len(stored) == len(KEYS) and all(stored.has_many(KEYS)) and not any(stored.has_many(OTHERS))
    load(client, "copy", folder / "crawl", shards=shards)
    copy = Seen(client, "copy", shards=shards)
    assert len(copy) == len(KEYS) and all(copy.has_many(KEYS)) and not any(copy.has_many(OTHERS))
    assert not any(copy.add_many(KEYS)) and all(copy.add_many(OTHERS))
    with furui.Seen(folder / "local", form="lines") as local:
        local.add_many(KEYS)
        local.sync()
        # The keys of a journal are part of the set.
        load(client, "local", folder / "local", shards=50)
    ours = Seen(client, "local", shards=50)
    assert len(ours) == len(KEYS) and all(ours.has_many(KEYS)) and not any(ours.has_many(OTHERS))
    ours.add("one more")
    dump(client, "local", folder / "back")
    assert furui.Seen(folder / "back", read_only=True, form="lines").hash == local.hash
    assert furui.subtract(folder / "more", folder / "back", folder / "local") == 1
    assert {path.name for path in folder.iterdir()} - {"crawl", "local", "back", "more"} <= {"server-0"}


def test_a_set_comes_back_from_a_store(server: Server, tmp_path: Path) -> None:
    comes_back(redis.Redis(port=server.port), tmp_path, 1024)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.mark.xdist_group("cluster")
def test_a_set_comes_back_from_a_store_in_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    comes_back(cluster.client(), tmp_path, 100)


def test_empty_and_small_sets(server: Server, tmp_path: Path) -> None:
    client = redis.Redis(port=server.port, decode_responses=True)
    for number, (shards, count) in enumerate([(1, 0), (1, 3000), (7, 0), (7, 3), (7, 3000), (300, 5)]):
        keys = [str(key) for key in range(count)]
        Seen(client, f"s{number}", shards=shards).add_many(keys)
        dump(client, f"s{number}", tmp_path / str(number))
        verify(tmp_path / str(number))
        load(client, f"t{number}", tmp_path / str(number), shards=shards + 1)
        copy = Seen(client, f"t{number}", shards=shards + 1)
        assert len(copy) == count and all(copy.has_many(keys))


def test_what_does_not_fit_is_refused_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    client = redis.Redis(port=server.port)
    with furui.Seen(tmp_path / "set") as local:
        local.add_many(range(1000))
    Seen(client, "taken", shards=2)
    server("SEEN.ADD", "single", "a")
    before = server.digest()
    for name, match in [("taken", "exists already"), ("single", "taken by a single key"), ("a{b}", "brace")]:
        with pytest.raises(furui.ConfigError, match=match):
            load(client, name, tmp_path / "set")
    with furui.Seen(tmp_path / "other", hash="xxh64:0") as local:
        local.add("a")
    with pytest.raises(furui.ConfigError, match="its hash is xxh64"):
        load(client, "new", tmp_path / "other")
    with furui.Seen(tmp_path / "window", window="1h") as local:
        local.add("a")
    with pytest.raises(furui.ConfigError, match="window"):
        load(client, "new", tmp_path / "window")
    with pytest.raises(OSError):
        load(client, "new", tmp_path / "none")
    assert server.digest() == before
    load(client, "window", tmp_path / "window", shards=None)
    assert server("SEEN.HAS", "window", "a") == [1]
    with furui.Dict(tmp_path / "dict", values="bytes") as local:
        local["a"] = "b"
        local.compact()
    load(client, "dict", tmp_path / "dict")
    assert server("DICT.GET", "dict", "a") == b"b"
    Seen(client, "aging", window="1h", shards=2).add("a")
    with pytest.raises(furui.ConfigError, match="without a window"):
        dump(client, "aging", tmp_path / "aging")
    with pytest.raises(redis.ResponseError, match="no such key"):
        dump(client, "none", tmp_path / "none")


def test_a_load_that_fails_removes_what_it_has_made(server: Server, tmp_path: Path) -> None:
    """A key is in the way, or memory is short: the keys before it go again, and the name is free."""
    client = redis.Redis(port=server.port)
    with furui.Seen(tmp_path / "set") as local:
        local.add_many(range(100_000))
    server("SET", "s:{5}", "in the way")
    with pytest.raises(redis.ResponseError, match="exists already"):
        load(client, "s", tmp_path / "set", shards=8)
    assert server("KEYS", "*") == [b"s:{5}"]
    server("DEL", "s:{5}")
    server("CONFIG", "SET", "furui.max-memory", 400_000)
    with pytest.raises(furui.FullError):
        load(client, "s", tmp_path / "set", shards=8)
    assert server("KEYS", "*") == []
    server("CONFIG", "SET", "furui.max-memory", 0)
    load(client, "s", tmp_path / "set", shards=8)
    assert len(Seen(client, "s", shards=8)) == 100_000


def test_nobody_uses_a_set_that_is_being_loaded(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = redis.Redis(port=server.port)
    with furui.Seen(tmp_path / "set") as local:
        local.add_many(range(1000))

    def killed(*_: Any) -> None:
        with pytest.raises(furui.ConfigError, match="being loaded"):
            Seen(client, "s", shards=8)
        with pytest.raises(furui.ConfigError, match="exists already"):
            load(client, "s", tmp_path / "set", shards=8)
        os._exit(3)

    child = os.fork()
    if not child:
        monkeypatch.setattr("furui._spread.Spread.end_loading", killed)
        try:
            load(redis.Redis(port=server.port), "s", tmp_path / "set", shards=8)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    with pytest.raises(furui.ConfigError, match="furui.valkey.remove"):
        Seen(client, "s", shards=8)
    remove(client, "s")
    assert server("DBSIZE") == 0
    load(client, "s", tmp_path / "set", shards=8)
    assert len(Seen(client, "s", shards=8)) == 1000


def test_a_key_that_was_lost_is_told(server: Server, tmp_path: Path) -> None:
    client = redis.Redis(port=server.port)
    Seen(client, "s", shards=8).add_many(range(1000))
    server("DEL", "s:{3}")
    with pytest.raises(redis.ResponseError, match="no such key"):
        dump(client, "s", tmp_path / "s")
    server("SEEN.ADD", "s:{3}", "a")
    with pytest.raises(furui.Error, match="another hash"):
        dump(client, "s", tmp_path / "s")
    assert not (tmp_path / "s").exists()
