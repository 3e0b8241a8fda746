"""A dictionary over many keys answers as Python's own does, in servers and in a cluster."""

import importlib
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from server import Server

furui = pytest.importorskip("furui", reason="SKIPPED: the wheel of furui is not installed")

from cluster import Cluster  # noqa: E402
from furui.valkey import Dict, Seen, dump, remove  # noqa: E402


@pytest.fixture(params=["redis.Redis", "valkey.Valkey", "decoding", "protocol 2"])
def client(request: pytest.FixtureRequest, server: Server) -> Any:
    if request.param == "decoding":
        return redis.Redis(port=server.port, decode_responses=True)
    if request.param == "protocol 2":
        return redis.Redis(port=server.port, protocol=2)
    library, name = request.param.split(".")
    pytest.importorskip(library, reason=f"SKIPPED: {library} is not installed")
    return getattr(importlib.import_module(library), name)(port=server.port)


def prefixed(model: dict[bytes, Any], prefix: bytes) -> list[tuple[bytes, Any]]:
    return sorted((field, value) for field, value in model.items() if field.startswith(prefix))


def ranged(model: dict[bytes, Any], start: bytes, stop: bytes) -> list[tuple[bytes, Any]]:
    return sorted((field, value) for field, value in model.items() if start <= field and (field < stop or not stop))


def test_values_are_those_of_a_model(client: Any) -> None:
    chance, model = random.Random(1), dict[bytes, bytes]()
    one, other = (Dict(client, "d", shards=16, text=False) for _ in range(2))

    def field() -> bytes:
        return bytes(chance.choices([0, 97, 98, 255], k=chance.randrange(6)))

    for step in range(400):
        used, fields = chance.choice([one, other]), [field() for _ in range(chance.randrange(20))]
        match chance.randrange(8):
            case 0 | 1:
                entries = [(field, str(chance.random()).encode()) for field in fields]
                used.put_many(entries if step % 2 else iter(entries))
                model.update(entries)
            case 2:
                assert used.get_many(fields) == [model.get(field) for field in fields]
            case 3:
                assert used.delete_many(fields) == len(set(fields) & model.keys())
                model = {field: value for field, value in model.items() if field not in fields}
            case 4:
                prefix = field()
                assert list(used.prefix(prefix)) == prefixed(model, prefix)
            case 5:
                start, stop = field(), field()
                assert list(used.range(start, stop)) == ranged(model, start, stop)
            case 6:
                assert list(used.items()) == sorted(model.items()) and list(used) == sorted(model)
            case _:
                asked = field()
                assert (asked in used) == (asked in model) and used.get(asked, "none") == model.get(asked, "none")
        assert len(used) == len(model)
    one.clear()
    assert len(other) == 0 and not list(other)


def test_numbers_are_unique_and_stay(client: Any) -> None:
    chance, model, given = random.Random(2), dict[str, int](), set[int]()
    one, other = (Dict(client, "n", "numbers", shards=16) for _ in range(2))
    for _ in range(200):
        used = chance.choice([one, other])
        fields = [f"field {chance.randrange(2000)}" for _ in range(chance.randrange(50))]
        numbers = used.number_many(fields)
        for field, number in zip(fields, numbers, strict=True):
            assert model.get(field, number) == number
            if field not in model:
                assert number not in given
                model[field] = number
                given.add(number)
        gone = chance.sample(sorted(model), min(len(model), 3))
        used.delete_many(gone)
        for field in gone:
            del model[field]
    assert one.get_many(model) == list(model.values())
    assert list(one.items()) == sorted(model.items()) and len(one) == len(model)
    assert one.number("field x") == other["field x"] not in given


def many(client: Any, shards: int) -> None:
    """20,000 entries, in pages of all keys."""
    entries = [(f"https://example.org/{number}", b"%d" % number * (number % 50)) for number in range(20_000)]
    titles = Dict(client, "titles", shards=shards)
    titles.put_many(entries)
    assert len(titles) == 20_000
    assert titles.get_many([field for field, _ in entries]) == [value for _, value in entries]
    assert list(titles.items()) == sorted(entries)
    assert list(titles.prefix("https://example.org/199")) == sorted(
        entry for entry in entries if entry[0].startswith("https://example.org/199")
    )
    assert list(itertools.islice(titles.range("https://example.org/5"), 3)) == sorted(
        entry for entry in entries if entry[0] >= "https://example.org/5"
    )[:3]
    numbers = Dict(client, "numbers", "numbers", shards=shards)
    given = numbers.number_many([field for field, _ in entries])
    assert len(set(given)) == 20_000 == len(numbers)
    assert numbers.number_many([field for field, _ in entries]) == given
    remove(client, "titles")
    assert len(Dict(client, "titles", "numbers", shards=shards)) == 0


def test_many_entries(server: Server) -> None:
    many(redis.Redis(port=server.port), 1024)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.mark.xdist_group("cluster")
def test_many_entries_in_a_cluster(cluster: Cluster) -> None:
    many(cluster.client(), 1024)
    used = {(node.port, bool(node.client.dbsize())) for node in cluster.masters()}
    assert len(used) == 3 and all(has_keys for _, has_keys in used)


def test_large_values(server: Server) -> None:
    """Values of 64 MB are sent and fetched, a few MiB at a time."""
    server("CONFIG", "SET", "client-query-buffer-limit", 16 << 20)
    large = Dict(redis.Redis(port=server.port), "d", shards=4)
    values = [bytes([number]) * (1 << 20) for number in range(64)]
    large.put_many((f"{number:02}", value) for number, value in enumerate(values))
    assert [value for _, value in large.items()] == values


def test_text_and_bytes(server: Server) -> None:
    client = redis.Redis(port=server.port)
    words = Dict(client, "d", shards=2)
    words["é"] = "ü"
    words[b"\xff"] = memoryview(b"x")
    assert words["é"] == "ü".encode() and list(words) == ["é", "\udcff"] and words["\udcff"] == b"x"
    assert list(Dict(client, "d", shards=2, text=False)) == ["é".encode(), b"\xff"]
    assert "a" not in words and 7 not in words and words.get("a") is None and words.get("a", 1) == 1
    with pytest.raises(KeyError):
        words["a"]
    with pytest.raises(KeyError):
        del words["a"]
    del words["é"]
    assert len(words) == 1 and words.delete(b"\xff") and not words.delete(b"\xff")
    for wrong in [7, None, 1.5]:
        with pytest.raises(TypeError, match="str or bytes"):
            words.put("a", wrong)  # type: ignore[arg-type]


def test_users_that_disagree_are_refused(server: Server) -> None:
    client = redis.Redis(port=server.port)
    Dict(client, "d", shards=4)
    Seen(client, "s", shards=4)
    server("DICT.SET", "single", "a", "b")
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: Dict(client, "d", "numbers", shards=4), "is recorded as dict bytes"),
        (lambda: Dict(client, "d"), "has 4 shards"),
        (lambda: Dict(client, "s", shards=4), "is recorded as a set"),
        (lambda: Seen(client, "d", shards=4), "is no set"),
        (lambda: Dict(client, "single"), "taken by a single key"),
        (lambda: Dict(client, "new", "text"), "bytes"),  # type: ignore[arg-type]
        (lambda: dump(client, "d", "nowhere"), "without a window"),
        (lambda: Dict(client, "d", shards=4).number("a"), "not of numbers"),
        (lambda: Dict(client, "n", "numbers", shards=4).put("a", "b"), "not of bytes"),
    ]
    for make, match in cases:
        with pytest.raises(furui.ConfigError, match=match):
            make()
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 20)
    with pytest.raises(furui.FullError):
        Dict(client, "d", shards=4).put_many((f"field {number}", b"x" * 100_000) for number in range(1000))
