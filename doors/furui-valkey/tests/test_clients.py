"""The Python package's sets on a server: with both libraries, every kind of batch, and answers that are lost."""

import importlib
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from server import Server

furui = pytest.importorskip("furui", reason="SKIPPED: the wheel of furui is not installed")

from furui.valkey import Seen, dump, load  # noqa: E402


@pytest.fixture(params=["redis.Redis", "valkey.Valkey", "decoding", "protocol 2"])
def client(request: pytest.FixtureRequest, server: Server) -> Any:
    """A client of either library, and some whose answers differ."""
    if request.param == "decoding":
        return redis.Redis(port=server.port, decode_responses=True)
    if request.param == "protocol 2":
        return redis.Redis(port=server.port, protocol=2)
    library, name = request.param.split(".")
    pytest.importorskip(library, reason=f"SKIPPED: {library} is not installed")
    return getattr(importlib.import_module(library), name)(port=server.port)


def test_a_set_answers_as_pythons_own(client: Any) -> None:
    chance, model = random.Random(1), set[str]()
    seen, other = Seen(client, "s", shards=16), Seen(client, "s", shards=16)
    for _ in range(300):
        keys = [f"key {chance.randrange(500)}" for _ in range(chance.randrange(20))]
        one = chance.choice([seen, other])
        match chance.randrange(4):
            case 0 | 1:
                expected = [not (key in model or model.add(key)) for key in keys]  # type: ignore[func-returns-value]
                assert one.add_many(keys) == expected
            case 2:
                assert one.has_many(keys) == [key in model for key in keys]
            case _:
                assert one.discard_many(keys) == len(set(keys) & model)
                model.difference_update(keys)
        assert len(one) == len(model)
    counts = [one.stats() for one in (seen, other)]
    assert all(count["keys"] == count["new"] + count["repeats"] and not count["uncertain"] for count in counts)
    seen.clear()
    assert len(other) == 0 and other.add("key 1")


def test_keys_are_those_of_the_package(client: Any) -> None:
    """A key is the same as text, as bytes and in any array, as everywhere in the package."""
    numpy = pytest.importorskip("numpy", reason="SKIPPED: numpy is not installed")
    seen = Seen(client, "s")
    assert seen.add("a") and not seen.add(b"a") and "a" in seen and seen.has(b"a")
    assert seen.add(b"\x00\xff\r\n") and seen.add("") and seen.add("é") and not seen.add("é".encode())
    assert seen.add(7) and not seen.add_many(numpy.array([7]))[0]
    answers = seen.add_many(numpy.array(["a", "b"]))
    assert answers.dtype == bool and answers.tolist() == [False, True]
    assert seen.add_many(key for key in ["b", "c", "c"]) == [False, True, False]
    assert seen.add_many([]) == []
    assert seen.discard("c") and not seen.discard("c")
    with pytest.raises(TypeError):
        seen.add_many("a text is no batch")
    with pytest.raises(TypeError):
        seen.add(1.5)
    assert seen.add("\ud83d") and not seen.add(b"\xed\xa0\xbd") and seen.has_many(["\ud83d", "\udcff"]) == [True, False]
    assert seen.add(float("nan")) and not seen.add_many([None])[0] and seen.add_many([numpy.bool_(True), 1]) == [True, False]
    masked = numpy.ma.array([7, 999999], mask=[False, True])
    assert seen.add_many(masked).tolist() == [False, False]
    with pytest.raises(TypeError, match="not float.* at index 1 of the batch"):
        seen.add_many(["a", 1.5])


def test_arrow_is_answered_in_arrow(server: Server) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    seen = Seen(redis.Redis(port=server.port), "s")
    assert seen.add_many(pyarrow.array(["a", "b", "a"])) == pyarrow.array([True, True, False])
    assert seen.has_many(pyarrow.chunked_array([["a"], ["x"]])) == pyarrow.array([True, False])


def test_a_large_batch_goes_in_parts(server: Server) -> None:
    """A batch of 100,000 keys, and one of 64 MB, are answered as they are by parts of at most a few MiB."""
    seen = Seen(redis.Redis(port=server.port), "s")
    assert all(seen.add_many(range(100_000)))
    assert not any(seen.has_many(range(100_000, 200_000)))
    server("CONFIG", "SET", "client-query-buffer-limit", 16 << 20)
    large = [bytes([i]) * (1 << 20) for i in range(64)]
    assert all(seen.add_many(large)) and not any(seen.add_many(large))
    assert seen.discard_many(range(200_000)) == 100_000


def test_users_that_disagree_are_refused(server: Server) -> None:
    client = redis.Redis(port=server.port)
    Seen(client, "s", shards=32)
    assert re.fullmatch(rb"32 0x[0-9a-f]{16}", server("GET", "s:shards"))
    with pytest.raises(furui.ConfigError, match="has 32 shards, not 1024"):
        Seen(client, "s")
    with pytest.raises(furui.ConfigError, match="has no window"):
        Seen(client, "s", shards=32, window="1h")
    Seen(client, "w", shards=32, window="1h").add("a")
    Seen(client, "w", shards=32, window="60m")
    Seen(client, "w", shards=32).clear()
    assert server("EXISTS", *[f"w:{{{i:02x}}}" for i in range(32)]) == 32, "a cleared set has its window"
    with pytest.raises(furui.ConfigError, match="has a window of 3600000ms"):
        Seen(client, "w", shards=32, window="2h")
    server("SET", "text:shards", "no number")
    with pytest.raises(furui.ConfigError, match="choose another name"):
        Seen(client, "text")
    server("SADD", "list:shards", "a")
    with pytest.raises(furui.ConfigError, match="another type"):
        Seen(client, "list")
    for shards in [0, 1 << 17, True]:
        with pytest.raises(furui.ConfigError):
            Seen(client, "new", shards=shards)
    for window in [0, -1, 1000, "12", "x", "0h", "99999999999999999999d", True]:
        with pytest.raises(furui.ConfigError):
            Seen(client, "new", window=window)  # type: ignore[arg-type]
    for name in ["", "a{b}"]:
        with pytest.raises(furui.ConfigError):
            Seen(client, name)
    with pytest.raises(furui.ConfigError, match="client"):
        Seen(server, "new")
    with pytest.raises(furui.ConfigError, match="asyncio"):
        Seen(redis.asyncio.Redis(port=server.port), "new")
    assert server("EXISTS", "new:shards") == 0


def test_a_members_place_is_the_range_of_its_seeded_hash(client: Any, server: Server) -> None:
    """Each key has the members whose hashes with the set's seed are in its range, and all keys hash with that seed."""
    members = [f"member {number}" for number in range(500)]
    Seen(client, "s", shards=16).add_many(members)
    seed = int(server("GET", "s:shards").split()[1], 16)
    assert seed != int((Seen(client, "t"), server("GET", "t:shards"))[1].split()[1], 16)
    hashes = furui.hash_many(members, f"xxh3:{seed:#x}")
    for member, value in zip(members, hashes, strict=True):
        exchanged = int(value) >> 32 | (int(value) & 0xFFFFFFFF) << 32
        assert server("SEEN.HAS", f"s:{{{exchanged * 16 >> 64:x}}}", member) == [1]
    for shard in range(16):
        info = server("FURUI.INFO", f"s:{{{shard:x}}}")
        assert info[info.index(b"seed") + 1] == f"{seed:#018x}".encode()
    # A key that is lost is made again with the seed, by the next user.
    server("DEL", "s:{3}")
    Seen(client, "s", shards=16)
    info = server("FURUI.INFO", "s:{3}")
    assert info[info.index(b"seed") + 1] == f"{seed:#018x}".encode()


def test_a_name_that_is_a_single_key_is_refused(client: Any, server: Server) -> None:
    server("SEEN.ADD", "single", "a")
    server("SET", "text", "a")
    for name in ["single", "text"]:
        with pytest.raises(furui.ConfigError, match=f"{name} is taken by a single key"):
            Seen(client, name)
        assert server("EXISTS", f"{name}:shards") == 0


def test_a_window_of_keys_is_shared_out(server: Server) -> None:
    seen = Seen(redis.Redis(port=server.port), "s", shards=8, window=8000)
    assert all(seen.add_many(range(50_000)))
    kept = sum(seen.has_many(range(50_000)))
    assert 7000 < kept < 10_000
    assert all(seen.has_many(range(45_000, 50_000)))


def test_what_the_server_refuses_is_told(server: Server, servers: Callable[..., Server]) -> None:
    client = redis.Redis(port=server.port)
    seen = Seen(client, "s", shards=2)
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    with pytest.raises(furui.FullError, match="furui.max-key-memory") as caught:
        for first in range(0, 1_000_000, 1000):
            seen.add_many(range(first, first + 1000))
    assert isinstance(caught.value.__cause__, redis.ResponseError)
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 30)
    # Some of its keys were recorded, but nobody was told so.
    assert all(seen.add_many(range(first, first + 1000)))
    assert not any(seen.add_many(range(first, first + 1000)))
    server("DEL", "s:{0}")
    server("SET", "s:{0}", "text")
    with pytest.raises(furui.ConfigError, match="another type"):
        seen.add_many(range(100))
    plain = servers(module=False)
    with pytest.raises(furui.ConfigError, match="load the module furui-valkey"):
        Seen(redis.Redis(port=plain.port), "s").add("a")


class Relay:
    """A relay to a server that can lose answers: it passes commands on, and then cuts the connection."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        #: So many answers to SEEN.ADD get lost.
        self.losses = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.relay, args=(near,), daemon=True).start()

    def relay(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self.server.port)) as far:
            while data := near.recv(1 << 20):
                far.sendall(data)
                answer = far.recv(1 << 20)
                if b"SEEN.ADD\r\n" in data and self.losses:
                    self.losses -= 1
                    return
                near.sendall(answer)


@pytest.fixture
def relay(server: Server) -> Iterator[Relay]:
    made = Relay(server)
    yield made
    made.listener.close()


def test_a_lost_answer_makes_nothing_seen(relay: Relay) -> None:
    """The server has recorded a key, but its answer is lost: the key is new. A client that retries calls it seen."""
    client: Any = redis.Redis(port=relay.port, retry=Retry(NoBackoff(), 1), retry_on_error=[redis.ConnectionError])
    relay.losses = 1
    assert client.execute_command("SEEN.ADD", "plain", "a") == [0], "this is what redis-py does"
    seen = Seen(client, "s", shards=1)
    relay.losses = 3
    assert seen.add_many(["a", "a", "b"]) == [True, False, True]
    assert seen.stats() == {"keys": 3, "new": 2, "repeats": 1, "uncertain": 3}
    assert seen.add_many(["a", "b", "c"]) == [False, False, True]


def test_a_call_that_fails_can_be_repeated(relay: Relay) -> None:
    """If the server is away for longer than a user's patience, the call fails, and the same call later is answered."""
    seen = Seen(redis.Redis(port=relay.port), "s", shards=1, patience=0)
    assert seen.add("a")
    relay.losses = 1
    with pytest.raises(redis.ConnectionError):
        seen.add_many(["a", "b"])
    # Whether "a" was new in that call is not known to anyone.
    assert seen.add_many(["a", "b", "c"]) == [True, True, True]
    assert not any(seen.add_many(["a", "b", "c"]))
    relay.losses = 1
    with pytest.raises(redis.ConnectionError):
        seen.add("d")
    seen.discard("d")
    assert seen.add("d")


def test_a_server_that_comes_back_is_waited_for(server: Server) -> None:
    seen = Seen(redis.Redis(port=server.port), "s", patience=30)
    assert seen.add("a")
    server("SAVE")
    port = server.port
    server.stop()
    server.choose_port = lambda: port
    answers: list[list[bool]] = []
    thread = threading.Thread(target=lambda: answers.append(seen.add_many(["a", "b"])))
    thread.start()
    server.start()
    thread.join(30)
    assert answers == [[False, True]]


def test_values_come_and_go_as_files(client: Any, server: Server, tmp_path: Path) -> None:
    """A set of this package is loaded into the server, and what is dumped from there is one of this package again."""
    store, back = tmp_path / "store", tmp_path / "back"
    with furui.Seen(store) as seen:
        seen.add_many([f"key {i}" for i in range(10_000)])
        seen.sync()
        with pytest.raises(furui.ConfigError, match="furui compact"):
            load(client, "crawl", store, shards=None)
    load(client, "crawl", store, shards=None)
    assert server("SEEN.CARD", "crawl") == 10_000
    assert server("SEEN.ADD", "crawl", "key 9999", "key x") == [0, 1]
    server("SEEN.ADD", "other", "a", "b", "c")
    dump(client, "other", back)
    with furui.Seen(back) as seen:
        assert len(seen) == 3
        assert seen.add_many(["a", "c", "d"]) == [False, False, True]
    with pytest.raises(FileExistsError):
        dump(client, "other", back)
    dump(client, "other", tmp_path / "again")
    load(client, "copy", tmp_path / "again", shards=None)
    assert server("SEEN.HAS", "copy", "a", "b", "c", "d") == [1, 1, 1, 0]
    with pytest.raises(redis_error(client), match="exists already"):
        load(client, "copy", tmp_path / "again", shards=None)
    assert server("SEEN.CARD", "copy") == 3
    with pytest.raises(redis_error(client), match="no such key"):
        dump(client, "none", tmp_path / "none")
    with pytest.raises(furui.ConfigError, match="no files"):
        (tmp_path / "empty").mkdir()
        load(client, "new", tmp_path / "empty")
    assert {path.name for path in tmp_path.iterdir()} == {"again", "back", "empty", "server-0", "store"}


def redis_error(client: Any) -> type[Exception]:
    library = type(client).__module__.split(".")[0]
    error: type[Exception] = importlib.import_module(f"{library}.exceptions").ResponseError
    return error


def test_large_values_go_in_pieces_and_damaged_ones_leave_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = redis.Redis(port=server.port)
    monkeypatch.setattr("furui._valkey_files._PIECE", 100_000)
    server("SEEN.ADD", "s", *range(200_000))
    dump(client, "s", tmp_path / "store")
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "store").iterdir()}
    assert max(sizes.values()) > 10 * 100_000
    load(client, "copy", tmp_path / "store", shards=None)
    assert server("SEEN.CARD", "copy") == 200_000
    largest = max(sizes, key=lambda name: sizes[name])
    with (tmp_path / "store" / largest).open("r+b") as file:
        file.seek(sizes[largest] // 2)
        byte = file.read(1)[0]
        file.seek(sizes[largest] // 2)
        file.write(bytes([byte ^ 0xFF]))
    with pytest.raises(redis.ResponseError, match="damaged"):
        load(client, "damaged", tmp_path / "store", shards=None)
    (tmp_path / "store" / largest).write_bytes(b"x")
    with pytest.raises(redis.ResponseError):
        load(client, "damaged", tmp_path / "store", shards=None)
    assert server("EXISTS", "damaged") == 0
