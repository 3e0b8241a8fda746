"""Clients of RedisBloom work unchanged with BF.* and CF.*, which the module has if its arguments say so."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from server import Server
from test_filters import some
from test_transfer import dump, load

Refused = redis.exceptions.ResponseError


@pytest.fixture(params=[2, 3])
def client(servers: Callable[..., Server], request: pytest.FixtureRequest) -> Any:
    """A client of redis-py, of both protocols."""
    server = servers("BF", "CF")
    return redis.Redis(port=server.port, protocol=request.param, socket_timeout=60)


@pytest.fixture
def both(servers: Callable[..., Server]) -> Server:
    return servers("BF", "CF")


def fields(server: Server, command: str, key: str) -> dict[str, Any]:
    found = server(command, key)
    if isinstance(found, dict):
        return {name.decode(): value for name, value in found.items()}
    return {name.decode(): value for name, value in zip(found[::2], found[1::2])}


def told(found: Any) -> dict[str, Any]:
    """What redis-py makes of an INFO: an object of fields, or a dictionary."""
    if isinstance(found, dict):
        return {(name.decode() if isinstance(name, bytes) else name): value for name, value in found.items()}
    names = {"capacity": "Capacity", "size": "Size", "filterNum": "Number of filters", "bucketNum": "Number of buckets",
             "insertedNum": "Number of items inserted", "deletedNum": "Number of items deleted",
             "bucketSize": "Bucket size", "expansionRate": "Expansion rate", "maxIteration": "Max iterations"}
    return {names[name]: value for name, value in vars(found).items() if name in names}


def chunks(scan: Callable[..., Any], key: str) -> list[tuple[int, bytes]]:
    """All chunks of a filter, as the documentation of RedisBloom fetches them."""
    found, iterator = [], 0
    while True:
        iterator, data = scan(key, iterator)
        if iterator == 0:
            return found
        found.append((iterator, data))


def test_redis_py_has_bloom_filters(client: Any) -> None:
    bf = client.bf()
    assert bf.create("a", 0.01, 1000) and bf.reserve("b", 0.01, 1000, expansion=4) and bf.create("c", 0.01, 3, noScale=True)
    assert bf.add("a", "x") == 1 and bf.add("a", "x") == 0
    assert bf.madd("a", "x", "y", "z") == [0, 1, 1]
    assert bf.insert("a", ["y", "w"]) == [0, 1]
    assert bf.insert("new", ["1", "2"], capacity=50, error=0.001, expansion=3) == [1, 1]
    assert bf.exists("a", "x") == 1 and bf.exists("a", "-") == 0 and bf.exists("none", "x") == 0
    assert bf.mexists("a", "x", "-", "w") == [1, 0, 1] and bf.mexists("none", "x", "y") == [0, 0]
    assert bf.card("a") == 4 and bf.card("none") == 0
    info = told(bf.info("new"))
    assert info.pop("Size") > 50
    assert info == {"Capacity": 50, "Number of filters": 1, "Number of items inserted": 2, "Expansion rate": 3}
    assert told(bf.info("c"))["Expansion rate"] is None
    with pytest.raises(Refused, match="not found"):
        bf.insert("none", ["x"], noCreate=True)
    assert bf.madd("c", "1", "2", "3") == [1, 1, 1]
    with pytest.raises(Refused, match="non scaling filter is full"):
        bf.add("c", "4")
    answers = bf.madd("c", "1", "4", "2")
    assert answers[0] == 0 and len(answers) == 2 and "non scaling filter is full" in str(answers[1])
    for iterator, data in chunks(bf.scandump, "a"):
        assert bf.loadchunk("copy", iterator, data)
    assert bf.mexists("copy", "x", "y", "z", "w", "-") == [1, 1, 1, 1, 0]
    assert told(bf.info("copy")) == told(bf.info("a"))


def test_redis_py_has_cuckoo_filters(client: Any) -> None:
    cf = client.cf()
    assert cf.create("a", 1000) and cf.reserve("b", 1000, expansion=2, bucket_size=4, max_iterations=50)
    assert cf.add("a", "x") == 1 and cf.add("a", "x") == 1 and cf.addnx("a", "x") == 0 and cf.addnx("a", "y") == 1
    assert cf.count("a", "x") == 2 and cf.count("a", "-") == 0 and cf.count("none", "x") == 0
    assert cf.insert("a", ["x", "z"]) == [1, 1] and cf.insertnx("a", ["x", "w"]) == [0, 1]
    assert cf.insert("new", ["1", "1"], capacity=10) == [1, 1]
    assert cf.exists("a", "x") == 1 and cf.exists("a", "-") == 0 and cf.exists("none", "x") == 0
    assert cf.mexists("a", "x", "-") == [1, 0]
    assert cf.delete("a", "x") == 1 and cf.count("a", "x") == 2 and cf.delete("a", "-") == 0
    info = told(cf.info("a"))
    assert info["Number of items inserted"] == 5 and info["Number of items deleted"] == 1
    assert {name: value for name, value in told(cf.info("b")).items() if name.startswith(("Bucket", "Exp", "Max"))} == {
        "Bucket size": 4, "Expansion rate": 2, "Max iterations": 50}
    with pytest.raises(Refused, match="not found"):
        cf.insert("none", ["x"], nocreate=True)
    with pytest.raises(Refused, match="Not found"):
        cf.delete("none", "x")
    assert cf.reserve("full", 4, expansion=0) and cf.insertnx("full", list("abcdef")) == [1, 1, 1, 1, -1, -1]
    with pytest.raises(Refused, match="Filter is full"):
        cf.add("full", "e")
    for iterator, data in chunks(cf.scandump, "a"):
        assert cf.loadchunk("copy", iterator, data)
    assert cf.count("copy", "x") == 2 and told(cf.info("copy")) == told(cf.info("a"))
    assert client.execute_command("CF.COMPACT", "a") in (b"OK", True)


@pytest.mark.parametrize("expansion", [1, 2, 4, 30_000])
def test_a_chain_grows_as_it_was_asked(both: Server, expansion: int) -> None:
    both("BF.RESERVE", "f", "0.01", 40, "EXPANSION", expansion)
    both("BF.MADD", "f", *some("k", 2_000))
    assert both("BF.MEXISTS", "f", *some("k", 2_000)) == [1] * 2_000
    capacity, room, parts, info = 40, 40, 1, fields(both, "BF.INFO", "f")
    while capacity < info["Number of items inserted"]:
        # Thirteen filters may be equal.
        room *= expansion if parts < 13 else max(expansion, 2)
        capacity += room
        parts += 1
    assert (info["Capacity"], info["Number of filters"], info["Expansion rate"]) == (capacity, parts, expansion)
    assert info["Number of items inserted"] == both("BF.CARD", "f") > 1_970
    assert sum(both("BF.MEXISTS", "f", *some("x", 20_000))) <= 200 + 4 * 15, "at any number of filters"
    assert info["Size"] <= both("MEMORY", "USAGE", "f") + 64


def test_a_chain_of_many_filters_ends(both: Server) -> None:
    both("BF.RESERVE", "f", "0.001", 1, "EXPANSION", 1)
    answers = both("BF.MADD", "f", *some("k", 20_000))
    assert 16_395 <= len(answers) < 16_500 and "max number of scaling filters" in str(answers[-1])
    assert fields(both, "BF.INFO", "f")["Number of filters"] == 26
    for iterator, data in chunks(lambda *place: both("BF.SCANDUMP", *place), "f"):
        both("BF.LOADCHUNK", "copy", iterator, data)
    assert both("DEBUG", "DIGEST-VALUE", "f") == both("DEBUG", "DIGEST-VALUE", "copy")


def test_cf_follows_a_model(both: Server) -> None:
    chance, model = random.Random(5), dict[str, int]()
    both("CF.RESERVE", "f", 16, "EXPANSION", 1)
    deleted = 0
    for step in range(6_000):
        key = f"k{chance.randrange(2_000 if step < 4_000 else 50)}"
        if chance.random() < (0.75 if step < 4_000 else 0.3):
            assert both("CF.ADD", "f", key) == 1
            model[key] = model.get(key, 0) + 1
        elif model.get(key, 0) > 0:
            assert both("CF.DEL", "f", key) == 1
            model[key] -= 1
            deleted += 1
        else:
            assert both("CF.DEL", "f", key) == 0, "fingerprints are long"
        if step % 1_000 == 999:
            both("CF.COMPACT", "f")
            assert [both("CF.COUNT", "f", key) for key in model] == list(model.values())
            info = fields(both, "CF.INFO", "f")
            assert info["Number of items inserted"] == sum(model.values())
            assert info["Number of items deleted"] == deleted
    for key, count in model.items():
        for _ in range(count):
            assert both("CF.DEL", "f", key) == 1
    large = fields(both, "CF.INFO", "f")["Size"]
    both("CF.COMPACT", "f")
    assert fields(both, "CF.INFO", "f")["Size"] < large / 8
    assert both("CF.SCANDUMP", "f", 0) == [0, None]


def test_bf_follows_a_model(both: Server) -> None:
    chance, seen = random.Random(6), set[str]()
    both("BF.RESERVE", "f", "0.000001", 10)
    for _ in range(300):
        keys = [f"k{chance.randrange(5_000)}" for _ in range(chance.randrange(1, 30))]
        expected = []
        for key in keys:
            expected.append(int(key not in seen))
            seen.add(key)
        assert both("BF.MADD", "f", *keys) == expected, "at this rate"
    assert both("BF.CARD", "f") == len(seen)


def test_the_rate_of_cf_holds_when_it_grows(both: Server) -> None:
    for i in range(20):
        both("CF.INSERT", "f", "ITEMS", *some(f"k{i}.", 5_000))
    for i in range(20):
        assert both("CF.MEXISTS", "f", *some(f"k{i}.", 5_000)) == [1] * 5_000
    assert sum(both("CF.MEXISTS", "f", *some("x", 100_000))) <= 20, "100,000 of 2^32 fingerprints"
    # No server should wait for one key, so copies have a limit.
    answers = both("CF.INSERT", "g", "ITEMS", *["a"] * 10_000)
    assert answers[1_023] == 1 and answers[1_024] in (-1, False)
    assert both("CF.COUNT", "g", "a") == answers.count(1) == 1_024
    with pytest.raises(Refused, match="1024 copies"):
        both("CF.ADD", "g", "a")


DIALECTS = {
    "BF": ["BF.RESERVE f 0.001 100 EXPANSION 3", "BF.INSERT f CAPACITY 10 ITEMS"],
    "BF of one filter": ["BF.RESERVE f 0.001 9000 NONSCALING", "BF.MADD f"],
    "CF": ["CF.RESERVE f 100 BUCKETSIZE 3 MAXITERATIONS 7 EXPANSION 2", "CF.INSERT f ITEMS"],
    "CF of one size": ["CF.RESERVE f 9000 EXPANSION 0", "CF.INSERTNX f ITEMS"],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_filter_survives(servers: Callable[..., Server], dialect: str) -> None:
    server = servers("BF", "CF", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    replica = servers("BF", "CF", "--replicaof", f"127.0.0.1 {server.port}")
    reserve, insert = DIALECTS[dialect]
    prefix = dialect[:2]
    server(*reserve.split())
    server(*insert.split(), *some("k", 4_000))
    server(f"{prefix}.ADD", "made of nothing", "a")
    if prefix == "CF":
        server("CF.DEL", "f", "k0")
    before, info = server("DEBUG", "DIGEST-VALUE", "f"), fields(server, f"{prefix}.INFO", "f")
    server("COPY", "f", "copy")
    server("RESTORE", "moved", 0, server("DUMP", "f"))
    load(server, "loaded", dump(server, "f"))
    for iterator, data in chunks(lambda *place: server(f"{prefix}.SCANDUMP", *place), "f"):
        server(f"{prefix}.LOADCHUNK", "chunks", iterator, data)
    for key in ["copy", "moved", "loaded", "chunks"]:
        assert server("DEBUG", "DIGEST-VALUE", key) == before, key
        assert fields(server, f"{prefix}.INFO", key) == info, key
    whole = server.digest()
    server("DEBUG", "RELOAD")
    assert server.digest() == whole
    server.restart()
    assert server.digest() == whole, "the commands of the AOF file, as they came"
    server("BGREWRITEAOF")
    while server("INFO", "persistence")["aof_rewrite_in_progress"]:
        pass
    server(f"{prefix}.ADD", "f", "later")
    whole = server.digest()
    server.restart()
    assert server.digest() == whole, "the commands of the rewritten AOF file, and what came later"
    replica("REPLICAOF", "127.0.0.1", server.port)
    while server.digest() != replica.digest():
        pass
    server(f"{prefix}.ADD", "copy", "later still")
    server(f"{prefix}.ADD", "made on the way", "a")
    while server.digest() != replica.digest():
        pass
    assert replica(f"{prefix}.MEXISTS", "f", "k1", "later", "none") == [1, 1, 0]
    assert fields(replica, f"{prefix}.INFO", "f") == fields(server, f"{prefix}.INFO", "f")


def test_what_valkey_bloom_has_besides(both: Server) -> None:
    assert both("BF.INSERT", "empty", "CAPACITY", 500, "ERROR", "0.002") == []
    for field, answer in [("CAPACITY", 500), ("ERROR", b"0.002")]:
        found = both("BF.INFO", "empty", field)
        # Clients of RESP3 get a map.
        assert list(found.values() if isinstance(found, dict) else found) == [answer]
    assert both("BF.INSERT", "empty", "ITEMS", "a") == [1]
    for refused in [["SEED", "x" * 32], ["TIGHTENING", "0.5"], ["VALIDATESCALETO", 1000]]:
        with pytest.raises(Refused, match="unknown argument"):
            both("BF.INSERT", "other", *refused, "ITEMS", "a")
    for field in ["TIGHTENING", "MAXSCALEDCAPACITY"]:
        with pytest.raises(Refused, match="invalid information value"):
            both("BF.INFO", "empty", field)


def test_chunks_reach_another_server(servers: Callable[..., Server]) -> None:
    a, b = servers("BF", "CF"), servers("BF", "CF")
    for prefix, keys in [("BF", 5_000_000), ("CF", 10_000_000)]:
        a(f"{prefix}.RESERVE", "f", *(["1e-9", keys] if prefix == "BF" else [keys]))
        a(f"{prefix}.INSERT", "f", "ITEMS", *some("k", 10_000))
        found = chunks(lambda *place: a(f"{prefix}.SCANDUMP", *place), "f")
        assert len(found) > 2 and [iterator % (1 << 21) for iterator, _ in found] == list(range(1, len(found) + 1))
        assert max(len(data) for _, data in found) < (16 << 20) + 300
        for iterator, data in found:
            assert b("EXISTS", "f") == int(iterator != found[0][0])
            if iterator != found[0][0]:
                with pytest.raises(Refused, match="WRONGTYPE"):
                    b(f"{prefix}.EXISTS", "f", "k1")
            b(f"{prefix}.LOADCHUNK", "f", iterator, data)
        assert a("DEBUG", "DIGEST-VALUE", "f") == b("DEBUG", "DIGEST-VALUE", "f")
        assert b(f"{prefix}.SCANDUMP", "f", 10_000)[0] == 0
        # Two clients fetch it at the same time, and it changes meanwhile.
        first = [a(f"{prefix}.SCANDUMP", "f", 0)]
        a(f"{prefix}.INSERT", "f", "ITEMS", "later")
        assert chunks(lambda *place: a(f"{prefix}.SCANDUMP", *place), "f") != found
        while first[-1][0]:
            first.append(a(f"{prefix}.SCANDUMP", "f", first[-1][0]))
        assert [data for _, data in first[:-1]] == [data for _, data in found]
        b("DEL", "f")
        a("DEL", "f")


@pytest.mark.parametrize("prefix", ["BF", "CF"])
def test_damaged_chunks_are_refused(both: Server, prefix: str) -> None:
    both(f"{prefix}.INSERT", "f", "ITEMS", *some("k", 1_000))
    found, chance = chunks(lambda *place: both(f"{prefix}.SCANDUMP", *place), "f"), random.Random(2)
    for _ in range(300):
        which = chance.randrange(len(found))
        iterator, data = found[which]
        place = chance.randrange(len(data))
        damage = chance.randrange(4)
        if damage == 0:
            data = data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
        elif damage == 1:
            data = data[:place]
        elif damage == 2:
            data = os.urandom(chance.randrange(200))
        else:
            iterator = chance.choice([iterator + 1, iterator + 7, 0, -1, 2**40, 2**63, 2**64])
        with pytest.raises(Refused):
            for place, piece in [*found[:which], (iterator, data)]:
                both(f"{prefix}.LOADCHUNK", "t", place, piece)
        both("DEL", "t")
    for iterator, data in found:
        both(f"{prefix}.LOADCHUNK", "t", iterator, data)
    with pytest.raises(Refused, match="item exists"):
        both(f"{prefix}.LOADCHUNK", "t", *found[0])
    for wrong in ["x", "-1", "", str(2**64), "1.5"]:
        with pytest.raises(Refused):
            both(f"{prefix}.SCANDUMP", "f", wrong)
    other = {"BF": "CF", "CF": "BF"}[prefix]
    for command in [["SCANDUMP", "f", 0], ["LOADCHUNK", "f", *found[0]], ["ADD", "f", "a"], ["EXISTS", "f", "a"],
                    ["INFO", "f"], ["INSERT", "f", "ITEMS", "a"], ["MEXISTS", "f", "a"], ["RESERVE", "f", *(["0.1"] if other == "BF" else []), 100]]:
        with pytest.raises(Refused, match="WRONGTYPE"):
            both(f"{other}.{command[0]}", *command[1:])


def test_settings_that_lie_are_refused(both: Server) -> None:
    both("BF.INSERT", "bf", "CAPACITY", 10, "ITEMS", *some("k", 50))
    both("CF.INSERT", "cf", "ITEMS", *some("k", 50))
    for key, changes in {
        "bf": [(b"of BF", b"of CF"), (b"of BF", b"of XX"), (b"furui", b"FURUI")],
        "cf": [(b"capacity 1024", b"capacity 99999999"), (b"of CF", b"of BF"),
               (b"capacity 1024", b"capacity 0"), (b"expansion 1", b"expansion 99999"), (b"deleted 0\n", b""), (b"deleted 0\n", b"deleted 0\ndeleted 0\n"),
               (b"capacity 1024", b"capacity 18446744073709551615"), (b"expansion 1", b"expansion 18446744073709551615")],
    }.items():
        (name, text), *others = dump(both, key)
        assert name == b"SETTINGS"
        for old, new in changes:
            assert old in text
            with pytest.raises(Refused):
                load(both, "t", [(name, text.replace(old, new, 1)), *others])
            assert both("EXISTS", "t") == 0, (old, new)
        with pytest.raises(Refused):
            load(both, "t", [(name, text)])
        with pytest.raises(Refused):
            load(both, "t", [(name, text), *others, (b"more", b"x")])


def test_wrong_arguments_are_refused(both: Server) -> None:
    both("SET", "text", "a")
    both("SIEVE.RESERVE", "bloom", "bloom", "0.1", 10)
    for key in ["text", "bloom"]:
        for command in ["ADD", "EXISTS", "MADD", "MEXISTS"]:
            with pytest.raises(Refused, match="WRONGTYPE"):
                both(f"BF.{command}", key, "a")
        for command in ["ADD", "ADDNX", "EXISTS", "MEXISTS", "DEL", "COUNT"]:
            with pytest.raises(Refused, match="WRONGTYPE"):
                both(f"CF.{command}", key, "a")
        for command in ["BF.INFO", "BF.CARD", "CF.INFO", "CF.COMPACT"]:
            with pytest.raises(Refused, match="WRONGTYPE"):
                both(command, key)
    for wrong, reason in {
        "BF.RESERVE n x 10": "bad error rate", "BF.RESERVE n nan 10": "bad error rate", "BF.RESERVE n 0 10": "error rate range",
        "BF.RESERVE n 1 10": "error rate range", "BF.RESERVE n inf 10": "error rate range", "BF.RESERVE n -1 10": "error rate range",
        "BF.RESERVE n 1e-300 10": "rate", "BF.RESERVE n 0.1 0": "larger than 0", "BF.RESERVE n 0.1 -1": "bad capacity",
        "BF.RESERVE n 0.1 1.5": "bad capacity", "BF.RESERVE n 0.1 4294967296": "bad capacity", "BF.RESERVE n 0.1": "number of arguments",
        "BF.RESERVE n 0.1 99999999999999999999": "bad capacity", "BF.RESERVE n 1e-9 4294967295": "max-key-memory",
        "BF.RESERVE n 0.1 10 EXPANSION": "number of arguments", "BF.RESERVE n 0.1 10 EXPANSION -1": "must be in the range",
        "BF.RESERVE n 0.1 10 EXPANSION 32769": "must be in the range", "BF.RESERVE n 0.1 10 EXPANSION x": "bad expansion",
        "BF.RESERVE n 0.1 10 NONSCALING EXPANSION 2": "number of arguments", "BF.RESERVE n 0.1 10 X": "unknown argument",
        "BF.INSERT n ITEMS": "number of arguments", "BF.INSERT n CAPACITY": "number of arguments",
        "BF.INSERT n X ITEMS a": "unknown argument", "BF.INSERT n ERROR nan ITEMS a": "bad error rate",
        "BF.INSERT n NOCREATE ITEMS a": "not found", "BF.INSERT n EXPANSION -1 ITEMS a": "bad expansion",
        "BF.INSERT n CAPACITY 4294967295 ERROR 1e-9 ITEMS a": "max-key-memory",
        "BF.INFO n": "not found", "BF.SCANDUMP n 0": "not found", "BF.ADD n": "number of arguments",
        "CF.RESERVE n 3": "Capacity must be", "CF.RESERVE n -1": "Bad capacity", "CF.RESERVE n 1073741825": "Capacity must be",
        "CF.RESERVE n 99999999999999999999": "Bad capacity", "CF.RESERVE n x": "Bad capacity", "CF.RESERVE n 100 X 1": "Unknown",
        "CF.RESERVE n 100 BUCKETSIZE 0": "range", "CF.RESERVE n 100 BUCKETSIZE 256": "range", "CF.RESERVE n 100 EXPANSION -1": "range",
        "CF.RESERVE n 100 EXPANSION 32769": "range", "CF.RESERVE n 100 MAXITERATIONS 65536": "range",
        "CF.RESERVE n 100 MAXITERATIONS x": "parse", "CF.RESERVE n 100 EXPANSION": "number of arguments",
        "CF.RESERVE n 100 BUCKETSIZE 51": "Capacity must be", "CF.INSERT n CAPACITY 3 ITEMS a": "Capacity must be",
        "CF.INSERT n CAPACITY -1 ITEMS a": "Capacity must be", "CF.INSERT n CAPACITY x ITEMS a": "Bad capacity",
        "CF.INSERT n a b": "Unknown", "CF.INSERT n ITEMS": "number of arguments", "CF.INFO n": "not found", "CF.DEL n a": "Not found",
        "CF.COMPACT n": "not found", "CF.SCANDUMP n 0": "not found",
    }.items():
        with pytest.raises(Refused, match=reason):
            both(*wrong.split())
        assert both("EXISTS", "n") == 0, wrong
    both("BF.ADD", "b", "a")
    with pytest.raises(Refused, match="invalid information value"):
        both("BF.INFO", "b", "X")
    with pytest.raises(Refused, match="item exists"):
        both("BF.RESERVE", "b", "0.1", 10)
    both("BF.ADD", "b", b"\xff\x00")
    assert both("BF.MEXISTS", "b", b"\xff\x00", b"\xff") == [1, 0]


def test_memory_is_told_before_it_is_taken(both: Server) -> None:
    reserved = [["BF", rate, capacity] for rate in ["0.5", "0.001", "1e-9"] for capacity in [1, 1_000, 3_000_000]]
    reserved += [["CF", capacity] for capacity in [4, 5, 1_000, 65_536, 3_000_000]]
    for prefix, *arguments in reserved:
        both("CONFIG", "SET", "furui.max-key-memory", 4 << 30)
        both(f"{prefix}.RESERVE", "f", *arguments)
        used = both("MEMORY", "USAGE", "f")
        both("DEL", "f")
        if used > 1 << 17:
            both("CONFIG", "SET", "furui.max-key-memory", int(used * 0.99))
            with pytest.raises(Refused, match="max-key-memory"):
                both(f"{prefix}.RESERVE", "f", *arguments)
    both("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    answers: list[Any] = []
    for i in range(100):
        answers += both("BF.MADD", "bf", *some(f"k{i}.", 1_000))
        both("CF.INSERT", "cf", "ITEMS", *some(f"k{i}.", 1_000))
    assert "max-key-memory" in str(answers[-1])
    with pytest.raises(Refused, match="max-key-memory"):
        both("CF.ADD", "cf", "one more")
    assert both("BF.EXISTS", "bf", "k0.7") == both("CF.EXISTS", "cf", "k0.7") == 1
    for key, prefix in [("bf", "BF"), ("cf", "CF")]:
        assert 1 << 12 < fields(both, f"{prefix}.INFO", key)["Size"] <= 1 << 16
    # A chain that should grow by far more than there is.
    both("CONFIG", "SET", "furui.max-key-memory", 1 << 40)
    both("CF.RESERVE", "wide", 1_000, "EXPANSION", 32_768)
    both("BF.RESERVE", "wider", "0.01", 2, "EXPANSION", 32_768)
    both("CONFIG", "SET", "furui.max-key-memory", 1 << 30)
    answers = both("BF.MADD", "wider", *some("k", 100_000))
    assert "max-key-memory" in str(answers[-1]) and both("PING")
    assert both("CF.INSERT", "wide", "ITEMS", *some("k", 2_000)) == [1] * 2_000


def test_commands_of_filters_work(both: Server) -> None:
    both("BF.RESERVE", "bf", "0.001", 10)
    both("CF.ADD", "cf", "a")
    for key in ["bf", "cf"]:
        assert both("SIEVE.ADD", key, "b", "c") == [1, 1]
        assert both("SIEVE.HAS", key, "b", "x") == [1, 0]
        assert both("TYPE", key) == b"furui-flt"
    assert both("BF.CARD", "bf") == 2 and both("CF.COUNT", "cf", "b") == 1
    assert both("SIEVE.DEL", "cf", "b", "x") == [1, 0] and both("SIEVE.COUNT", "cf", "a", "b") == [1, 0]
    assert fields(both, "CF.INFO", "cf")["Number of items deleted"] == 1
    assert fields(both, "SIEVE.INFO", "bf")["kind"] == b"BF"
    assert fields(both, "SIEVE.INFO", "cf")["kind"] == b"CF"
    with pytest.raises(Refused, match="cannot be removed"):
        both("SIEVE.DEL", "bf", "b")
    with pytest.raises(Refused, match="cannot be merged"):
        both("SIEVE.MERGE", "bf", "cf")


def test_a_repeat_is_not_replicated(servers: Callable[..., Server]) -> None:
    server = servers("BF", "CF")
    server("BF.ADD", "b", "a")
    server("CF.ADD", "c", "a")
    offset = server("INFO", "server")["uptime_in_seconds"]
    assert offset >= 0
    dirty = server("INFO", "persistence")["rdb_changes_since_last_save"]
    for command in [["BF.ADD", "b", "a"], ["BF.MADD", "b", "a", "a"], ["CF.ADDNX", "c", "a"], ["CF.DEL", "c", "x"],
                    ["BF.EXISTS", "b", "a"], ["BF.SCANDUMP", "b", 0], ["CF.COUNT", "c", "a"]]:
        server(*command)
    assert server("INFO", "persistence")["rdb_changes_since_last_save"] == dirty


def test_the_module_has_only_what_its_arguments_say(servers: Callable[..., Server]) -> None:
    def names(server: Server) -> set[str]:
        return {name.decode().split(".")[0].upper() for name in server("COMMAND LIST") if b"." in name}

    own = {"SEEN", "SIEVE", "DICT", "FURUI"}
    assert names(servers()) == own
    assert names(servers("BF")) == {*own, "BF"}
    assert names(servers("cf")) == {*own, "CF"}
    both = servers("BF", "CF", "BF")
    assert names(both) == {*own, "BF", "CF"}
    docs = both("COMMAND DOCS", *[name for name in both("COMMAND LIST") if name.upper().startswith((b"BF.", b"CF."))])
    assert len(docs) == 23
    for name, entry in docs.items():
        assert entry[b"summary"] and entry[b"complexity"], name
    with pytest.raises(RuntimeError, match="argument \"XY\" of the module is unknown: BF switches on"):
        servers("XY")


def test_another_module_may_have_the_names(
    servers: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = os.environ["FURUI_MODULE"]
    source = tmp_path / "other.c"
    source.write_text(OTHER)
    made = subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "other.so"), str(source)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("there is no C compiler: " + made.stderr.decode()[-200:])
    monkeypatch.setenv("FURUI_MODULE", str(tmp_path / "other.so"))
    with pytest.raises(RuntimeError, match="the command BF.ADD cannot be registered, probably because another module"):
        servers("--loadmodule", module, "BF")
    servers("--loadmodule", module, "CF")


# A module that has the command BF.ADD, and does nothing else. It declares what it needs of the server's header.
OTHER = """
int (*create)(void *, const char *, void *, const char *, int, int, int);
void (*attributes)(void *, const char *, int, int);
static int nothing(void *context, void **arguments, int count) { return 0; }
int RedisModule_OnLoad(void *context, void **arguments, int count) {
    int (*get)(const char *, void *) = (int (*)(const char *, void *)) ((void **) context)[0];
    get("RedisModule_CreateCommand", &create);
    get("RedisModule_SetModuleAttribs", &attributes);
    attributes(context, "other", 1, 1);
    return create(context, "BF.ADD", nothing, "readonly", 1, 1, 1);
}
"""


def test_the_suite_of_redisbloom(servers: Callable[..., Server]) -> None:
    suite = os.environ.get("REDISBLOOM_TESTS")
    if not suite:
        pytest.skip("REDISBLOOM_TESTS does not name the folder tests/flow of a checkout of RedisBloom")
    python = os.environ.get("RLTEST_PYTHON", sys.executable)
    script = Path(__file__).parent / "redisbloom.py"
    done = subprocess.run([python, str(script), "--suite", suite], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
