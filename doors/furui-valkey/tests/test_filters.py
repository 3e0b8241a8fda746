"""Filters say yes to what they hold, and hold to their rates, through restarts, copies, merges and replicas."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from server import Server
from test_transfer import dump, furui, load

KINDS = ["bloom", "scalable", "blocked", "quotient", "counting", "stable-light", "window"]

__all__ = ["furui"]


def info(server: Server, key: str) -> dict[str, Any]:
    found = server("SIEVE.INFO", key)
    return {name.decode(): value for name, value in zip(found[::2], found[1::2])}


def some(name: str, count: int) -> list[str]:
    return [f"{name}{i}" for i in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_knows_its_keys(server: Server, kind: str) -> None:
    assert server("SIEVE.RESERVE", "f", kind, "0.01", 10_000) == b"OK"
    assert server("SIEVE.ADD", "f", "a", "b", "a") == [1, 1, 0]
    assert server("SIEVE.HAS", "f", "a", "b", "c") == [1, 1, 0]
    keys = some("k", 8_000)
    assert sum(server("SIEVE.ADD", "f", *keys)) > 7_800
    assert server("SIEVE.HAS", "f", *keys) == [1] * 8_000
    wrong = sum(server("SIEVE.HAS", "f", *some("x", 20_000)))
    assert wrong <= 200 + 4 * 15, f"{wrong} of 20,000 at a rate of 1 %"
    found = info(server, "f")
    assert found["kind"] == kind.encode() and float(found["error-now"]) <= 0.0101
    assert abs(float(found["error"]) / 0.01 - 1) < 0.25, found
    assert found["bytes"] <= server("MEMORY", "USAGE", "f") + 64
    if found["keys"] is not None:
        assert 7_700 < found["keys"] < 8_300
    assert server("TYPE", "f") == b"furui-flt"


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_survives(servers: Callable[..., Server], kind: str) -> None:
    server = servers("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    replica = servers("--replicaof", f"127.0.0.1 {server.port}")
    server("SIEVE.RESERVE", "f", kind, "0.001", 5_000, "SEED", "7")
    server("SIEVE.ADD", "f", *some("k", 4_000))
    before = server("DEBUG", "DIGEST-VALUE", "f")
    server("COPY", "f", "copy")
    assert server("DEBUG", "DIGEST-VALUE", "copy") == before
    server("RESTORE", "moved", 0, server("DUMP", "f"))
    assert server("DEBUG", "DIGEST-VALUE", "moved") == before
    whole = server.digest()
    server("DEBUG", "RELOAD")
    assert server.digest() == whole
    server.restart()
    assert server.digest() == whole, "the commands of the AOF file, as they came"
    server("BGREWRITEAOF")
    while server("INFO", "persistence")["aof_rewrite_in_progress"]:
        pass
    server("SIEVE.ADD", "f", "later")
    whole = server.digest()
    server.restart()
    assert server.digest() == whole, "the commands of the rewritten AOF file, and what came later"
    replica("REPLICAOF", "127.0.0.1", server.port)
    while server.digest() != replica.digest():
        pass
    server("SIEVE.ADD", "f", "later still")
    while server.digest() != replica.digest():
        pass
    assert replica("SIEVE.HAS", "f", "k0", "later", "later still") == [1, 1, 1]
    load(server, "loaded", dump(server, "f"))
    assert server("DEBUG", "DIGEST-VALUE", "loaded") == server("DEBUG", "DIGEST-VALUE", "f")


@pytest.mark.parametrize("kind", ["quotient", "counting"])
def test_keys_are_removed_and_counted(server: Server, kind: str) -> None:
    server("SIEVE.RESERVE", "f", kind, "0.0001", 1_000)
    server("SIEVE.ADD", "f", "a", "a", "b")
    assert server("SIEVE.COUNT", "f", "a", "b", "c") == [2, 1, 0]
    assert server("SIEVE.DEL", "f", "a", "b", "c") == [1, 1, 0]
    assert server("SIEVE.COUNT", "f", "a", "b") == [1, 0]
    model: dict[str, int] = {"a": 1}
    chance = random.Random(kind)
    for _ in range(2_000):
        key = f"k{chance.randrange(60)}"
        if chance.random() < 0.5 and sum(model.values()) < 700 and model.get(key, 0) < 14:
            server("SIEVE.ADD", "f", key)
            model[key] = model.get(key, 0) + 1
        elif model.get(key, 0) > 0:
            assert server("SIEVE.DEL", "f", key) == [1]
            model[key] -= 1
        counts = server("SIEVE.COUNT", "f", *model)
        assert all(count >= model[name] for name, count in zip(model, counts))
    assert server("SIEVE.COUNT", "f", *model) == list(model.values()), "at this rate"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_cannot_do_is_refused(server: Server, kind: str) -> None:
    server("SIEVE.RESERVE", "f", kind, "0.01", 100)
    before = server.digest()
    if kind not in ("quotient", "counting"):
        for command in ["DEL", "COUNT"]:
            with pytest.raises(redis.exceptions.ResponseError, match="quotient and counting"):
                server(f"SIEVE.{command}", "f", "a")
    if kind in ("stable-light", "window"):
        server("SIEVE.RESERVE", "g", kind, "0.01", 100)
        with pytest.raises(redis.exceptions.ResponseError):
            server("SIEVE.MERGE", "f", "g")
        server("DEL", "g")
    assert server.digest() == before


@pytest.mark.parametrize("kind", ["bloom", "scalable", "blocked", "quotient", "counting"])
def test_filters_of_equal_parameters_are_merged(servers: Callable[..., Server], kind: str) -> None:
    a, b = servers(), servers()
    for server, name in [(a, "left"), (b, "right")]:
        server("SIEVE.RESERVE", name, kind, "0.001", 10_000)
        server("SIEVE.ADD", name, *some(name, 4_000))
    load(a, "right", dump(b, "right"))
    assert a("SIEVE.MERGE", "both", "left", "right") == b"OK"
    assert a("SIEVE.HAS", "both", *some("left", 4_000), *some("right", 4_000)) == [1] * 8_000
    assert sum(a("SIEVE.HAS", "both", *some("x", 10_000))) < 40
    assert a("SIEVE.MERGE", "left", "right") == b"OK"
    assert a("SIEVE.HAS", "left", *some("right", 4_000)) == [1] * 4_000
    a("SIEVE.RESERVE", "other", kind, "0.001", 10_000, "SEED", "1")
    before = a.digest()
    with pytest.raises(redis.exceptions.ResponseError):
        a("SIEVE.MERGE", "left", "right", "other")
    with pytest.raises(redis.exceptions.ResponseError, match="no such key"):
        a("SIEVE.MERGE", "left", "none")
    assert a.digest() == before, "all or nothing"
    if kind == "quotient":
        with pytest.raises(redis.exceptions.ResponseError, match="more room"):
            a("SIEVE.MERGE", "left", "left", "right")
        assert a.digest() == before
    else:
        a("SIEVE.MERGE", "left", "left", "left")


def test_a_quotient_filter_is_full_and_says_so(server: Server) -> None:
    server("SIEVE.RESERVE", "f", "quotient", "0.01", 100)
    answers = server("SIEVE.ADD", "f", *some("k", 2_000))
    assert answers[0] == 1 and "SIEVE.MERGE" in str(answers[-1])
    held = sum(answer == 1 for answer in answers)
    server("SIEVE.RESERVE", "large", "quotient", "0.0001", 10_000)
    assert server("SIEVE.HAS", "f", *some("k", 2_000))[:held].count(1) == held


#: A time on the clock of a server, in milliseconds.
NOON = 1_800_000_000_000


def test_a_filter_of_a_window_forgets(servers: Callable[..., Server]) -> None:
    server = servers(clock=True)
    server("SIEVE.RESERVE", "f", "window", "0.001", 160)
    server("SIEVE.ADD", "f", "a")
    server("SIEVE.ADD", "f", *some("k", 150))
    assert server("SIEVE.HAS", "f", "a") == [1]
    server("SIEVE.ADD", "f", *some("k", 200))
    assert server("SIEVE.HAS", "f", "a", "k199") == [0, 1]
    server("SIEVE.RESERVE", "t", "window", "0.001", 1000, "WINDOW", "1600s")
    for time, items, answers in [(10_000, ["a"], [1]), (11_000, ["a", "b"], [0, 1]), (12_500, ["a"], [0]), (15_000, ["a"], [1])]:
        server.set_clock(NOON + 1000 * time)
        assert server("SIEVE.ADD", "t", *items) == answers
    # Far more keys than were expected in the window.
    server("SIEVE.ADD", "t", *some("k", 50_000))
    assert server("SIEVE.ADD", "t", *some("k", 50_000)) == [0] * 50_000
    assert sum(server("SIEVE.ADD", "t", *some("x", 20_000))) > 20_000 - 60
    server.set_clock(NOON + 90_000_000)
    assert server("SIEVE.ADD", "t", "a") == [1]
    assert server("SIEVE.HAS", "t", "k7") == [0]
    # No damage is loaded.
    pieces = dump(server, "t")
    chance = random.Random(2)
    for _ in range(300):
        damaged = list(pieces)
        which = chance.randrange(len(damaged))
        name, data = damaged[which]
        place = chance.randrange(len(data))
        match chance.randrange(3 if len(pieces) > 1 else 2):
            case 0:
                damaged[which] = (name, data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :])
            case 1:
                damaged[which] = (name, data[:place])
            case _:
                del damaged[which]
        with pytest.raises(redis.exceptions.ResponseError):
            load(server, "u", damaged)
        server("DEL", "u")
    load(server, "u", pieces)
    assert server("DEBUG", "DIGEST-VALUE", "t") == server("DEBUG", "DIGEST-VALUE", "u")


def test_wrong_arguments_are_refused(server: Server) -> None:
    server("SET", "text", "a")
    server("SEEN.ADD", "set", "a")
    for key in ["text", "set"]:
        for command in ["ADD", "HAS", "DEL", "COUNT"]:
            with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
                server(f"SIEVE.{command}", key, "a")
        for command in [["INFO", key], ["MERGE", key, key], ["RESERVE", key, "bloom", "0.1", "10"]]:
            with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
                server(f"SIEVE.{command[0]}", *command[1:])
    for wrong in [
        ["what", "0.1", "10"], ["bloom", "0.1"], ["bloom", "nan", "10"], ["bloom", "0", "10"], ["bloom", "1", "10"],
        ["bloom", "-0.1", "10"], ["bloom", "inf", "10"], ["bloom", "1e-300", "10"], ["bloom", "0.1", "0"],
        ["bloom", "0.1", "-1"], ["bloom", "0.1", "1.5"], ["bloom", "0.1", "99999999999999999999"],
        ["bloom", "0.1", "10", "SEED"], ["bloom", "0.1", "10", "SEED", "2a"], ["bloom", "0.1", "10", "WINDOW", "1h"],
        ["window", "0.1", "10", "WINDOW", "0"], ["window", "0.1", "10", "WINDOW", "-1h"], ["bloom", "0.1", "10", "X", "1"],
        [b"\xff", "0.1", "10"], ["bloom", b"\xff", "10"],
    ]:
        with pytest.raises(redis.exceptions.ResponseError):
            server("SIEVE.RESERVE", "new", *wrong)
        assert server("EXISTS", "new") == 0
    for kind in KINDS:
        for capacity in [2**63, 2**64 - 1, 10**12, 2**40]:
            with pytest.raises(redis.exceptions.ResponseError, match="max-key-memory|too large|capacity|keys|at most"):
                server("SIEVE.RESERVE", "new", kind, "0.01", capacity)
        with pytest.raises(redis.exceptions.ResponseError):
            server("SIEVE.RESERVE", "new", kind, "1e-40", 1000)
    with pytest.raises(redis.exceptions.ResponseError, match="no such key"):
        server("SIEVE.ADD", "new", "a")
    assert server("SIEVE.HAS", "new", "a") == [0]
    assert server("PING")


def test_memory_is_told_before_it_is_taken(server: Server) -> None:
    for kind in KINDS:
        for rate in ["0.1", "0.001", "0.00001"]:
            for capacity in [1, 100, 100_000, 1_000_000]:
                server("CONFIG", "SET", "furui.max-key-memory", 4 << 30)
                server("SIEVE.RESERVE", "f", kind, rate, capacity)
                used = info(server, "f")["bytes"]
                server("DEL", "f")
                if used > 1 << 17:
                    server("CONFIG", "SET", "furui.max-key-memory", int(used * 0.97))
                    with pytest.raises(redis.exceptions.ResponseError, match="max-key-memory"):
                        server("SIEVE.RESERVE", "f", kind, rate, capacity)
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    server("SIEVE.RESERVE", "f", "scalable", "0.01", 100)
    with pytest.raises(redis.exceptions.ResponseError, match="max-key-memory"):
        for i in range(100):
            server("SIEVE.ADD", "f", *some(f"k{i}.", 1000))
    assert info(server, "f")["bytes"] <= 1 << 16


def test_filters_of_the_program(server: Server, furui: Callable[..., bytes], tmp_path: Path) -> None:
    lines = "".join(f"https://example.org/{i}\n" for i in range(10_000))
    for kind in ["bloom", "blocked", "quotient", "counting", "stable-light", "stable", "ringed", "parquet"]:
        path = tmp_path / f"{kind}.filter"
        furui("filter", "build", "--kind", kind, "--capacity", 20_000, "--rate", "0.001", "-o", path, text=lines)
        load(server, kind, [(b"x.filter", path.read_bytes())])
        assert server("SIEVE.HAS", kind, "https://example.org/7", "https://example.org/x") == [1, 0]
        server("SIEVE.ADD", kind, "https://example.org/new")
        [(_, back)] = dump(server, kind)
        path.write_bytes(back)
        furui("verify", path)
        found = furui("has", path, text="https://example.org/new\nhttps://example.org/none\n")
        assert found == b"https://example.org/new\n"


def test_events_and_docs(server: Server) -> None:
    server("CONFIG", "SET", "notify-keyspace-events", "KEA")
    events = server.client.pubsub()
    events.psubscribe("__keyevent@0__:sieve.*")
    server("SIEVE.RESERVE", "f", "quotient", "0.01", 10)
    server("SIEVE.ADD", "f", "a")
    server("SIEVE.DEL", "f", "a")
    server("SIEVE.MERGE", "g", "f")
    seen = []
    while len(seen) < 4:
        message = events.get_message(timeout=10)
        assert message is not None
        if message["type"] == "pmessage":
            seen.append((message["channel"].decode().split(":")[1], message["data"]))
    assert seen == [("sieve.reserve", b"f"), ("sieve.add", b"f"), ("sieve.del", b"f"),
                    ("sieve.merge", b"g")]
    names = [name for name in server("COMMAND LIST") if name.startswith((b"seen.", b"sieve.", b"dict.", b"furui."))]
    docs = server("COMMAND DOCS", *names)
    assert len(docs) == len(names)
    for name, fields in docs.items():
        assert fields[b"summary"] and fields[b"complexity"], name
    assert server("COMMAND GETKEYS", "SIEVE.MERGE", "a", "b", "c") == ["a", "b", "c"]
