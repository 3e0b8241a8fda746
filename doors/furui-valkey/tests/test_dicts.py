"""Dictionaries answer as Python's own do, through restarts, copies and replicas, and no argument ends the server."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from server import Server
from test_transfer import dump, load

Model = dict[bytes, Any]


def refused(server: Server, *command: Any, match: str | None = None) -> None:
    with pytest.raises(redis.exceptions.ResponseError, match=match):
        server(*command)


def pairs(reply: list[Any]) -> list[tuple[bytes, Any]]:
    return list(zip(reply[::2], reply[1::2], strict=True))


def test_values_are_set_and_read(server: Server) -> None:
    assert server("DICT.SET", "d", "a", "1", "b", "2", "a", "3") == 2
    assert server("DICT.SET", "d", "a", "4", "", b"\x00\xff", b"\xff\x00", "") == 2
    assert server("DICT.GET", "d", "a") == b"4"
    assert server("DICT.GET", "d", "") == b"\x00\xff"
    assert server("DICT.GET", "d", "c") is None
    assert server("DICT.GET", "none", "a") is None
    assert server("DICT.MGET", "d", "b", "c", b"\xff\x00", "b") == [b"2", None, b"", b"2"]
    assert server("DICT.MGET", "none", "b", "c") == [None, None]
    assert server("DICT.COUNT", "d") == 4
    assert server("DICT.COUNT", "none") == 0
    assert server("DICT.DEL", "d", "a", "a", "c") == 1
    assert server("DICT.DEL", "none", "a") == 0
    assert server("EXISTS", "none") == 0
    assert server("DICT.COUNT", "d") == 3
    assert server("TYPE", "d") == b"furui-dct"


def test_fields_are_numbered_in_order(server: Server) -> None:
    assert server("DICT.NUMBER", "n", "a", "b", "a", "c") == [0, 1, 0, 2]
    assert server("DICT.NUMBER", "n", "c", "d") == [2, 3]
    assert server("DICT.GET", "n", "d") == 3
    assert server("DICT.MGET", "n", "d", "x", "a") == [3, None, 0]
    assert server("DICT.DEL", "n", "d") == 1
    assert server("DICT.NUMBER", "n", "e", "d") == [4, 5], "no number is given twice"
    assert pairs(server("DICT.PREFIX", "n", "")) == [(b"a", 0), (b"b", 1), (b"c", 2), (b"d", 5), (b"e", 4)]
    before = server("DEBUG", "DIGEST-VALUE", "n")
    server("DICT.DEL", "n", "e")
    server("DEBUG", "RELOAD")
    server("COPY", "n", "copy")
    assert server("DICT.NUMBER", "n", "e") == server("DICT.NUMBER", "copy", "e") == [6]
    assert server("DEBUG", "DIGEST-VALUE", "n") == server("DEBUG", "DIGEST-VALUE", "copy") != before


def test_a_dictionary_has_one_kind_of_values(server: Server) -> None:
    server("DICT.SET", "d", "a", "1")
    server("DICT.NUMBER", "n", "a")
    refused(server, "DICT.SET", "n", "a", "1", match="^the key is a dictionary of numbers")
    refused(server, "DICT.NUMBER", "d", "a", match="^the key is a dictionary of bytes")
    assert server("DICT.DEL", "d", "a") == server("DICT.DEL", "n", "a") == 1


def test_prefixes_and_ranges(server: Server) -> None:
    fields = [b"", b"a", b"a\x00", b"a\xff", b"a\xff\xff", b"b", b"\xff", b"\xff\xff", b"\xff\xffa"]
    for field in fields:
        server("DICT.SET", "d", field, field + b"!")

    def found(*command: Any) -> list[bytes]:
        entries = pairs(server(*command))
        assert all(value == field + b"!" for field, value in entries)
        return [field for field, _ in entries]

    for prefix in [*fields, b"a\xfe", b"c"]:
        expected = [field for field in fields if field.startswith(prefix)]
        assert found("DICT.PREFIX", "d", prefix) == expected
        assert server("DICT.COUNT", "d", "PREFIX", prefix) == len(expected)
        for start in fields:
            assert found("DICT.PREFIX", "d", prefix, "AFTER", start) == [f for f in expected if f > start]
            assert found("DICT.RANGE", "d", start, prefix) == [
                f for f in fields if f >= start and (f < prefix or not prefix)]
    assert found("DICT.PREFIX", "d", "a", "LIMIT", "2") == [b"a", b"a\x00"]
    assert found("DICT.PREFIX", "d", "a", "AFTER", b"a\x00", "limit", "2") == [b"a\xff", b"a\xff\xff"]
    assert found("DICT.RANGE", "d", "a", b"\xff", "LIMIT", "2", "AFTER", b"a\xff") == [b"a\xff\xff", b"b"]
    assert found("DICT.RANGE", "d", "b", "a") == found("DICT.PREFIX", "none", "") == []


def test_long_replies_are_cut(server: Server) -> None:
    for i in range(0, 3000, 500):
        server("DICT.SET", "d", *[part for j in range(i, i + 500) for part in (f"{j:05}", "v")])
    first = pairs(server("DICT.PREFIX", "d", ""))
    assert len(first) == 1000
    listed: list[bytes] = []
    while True:
        after = ["AFTER", listed[-1]] if listed else []
        part = pairs(server("DICT.RANGE", "d", "", "", "LIMIT", 700, *after))
        if not part:
            break
        listed += [field for field, _ in part]
    assert listed == [f"{i:05}".encode() for i in range(3000)]
    for i in range(5):
        server("DICT.SET", "long", f"{i}", b"x" * (10 << 20))
    assert len(pairs(server("DICT.PREFIX", "long", ""))) == 2, "20 MiB"


def test_wrong_arguments_are_refused(server: Server) -> None:
    server("SET", "text", "a")
    server("DICT.SET", "d", "a", "1")
    for command in [["SET", "text", "a", "1"], ["NUMBER", "text", "a"], ["GET", "text", "a"], ["MGET", "text", "a"],
                    ["DEL", "text", "a"], ["PREFIX", "text", "a"], ["RANGE", "text", "a", "b"], ["COUNT", "text"],
                    ["RESERVE", "text", "BYTES"]]:
        refused(server, "DICT." + command[0], *command[1:], match="WRONGTYPE")
    for command in [["SET", "d"], ["SET", "d", "a"], ["SET", "d", "a", "1", "b"], ["NUMBER", "d"], ["GET", "d"],
                    ["GET", "d", "a", "b"], ["MGET", "d"], ["DEL", "d"], ["PREFIX", "d"], ["RANGE", "d", "a"], ["COUNT"],
                    ["RESERVE", "d"]]:
        refused(server, "DICT." + command[0], *command[1:], match="wrong number")
    for wrong in ["0", "-1", "nan", "1e3", "", "100001", "99999999999999999999999", "1.5", b"\xff", "\r\n"]:
        refused(server, "DICT.PREFIX", "d", "", "LIMIT", wrong)
        refused(server, "DICT.RANGE", "d", "", "", "LIMIT", wrong)
    for options in [["LIMIT"], ["AFTER"], ["WHAT", "1"], ["LIMIT", "1", "AFTER"], [b"\xff", "1"]]:
        refused(server, "DICT.PREFIX", "d", "", *options)
    for options in [["PREFIX"], ["PREFIX", "a", "b"], ["SUFFIX", "a"]]:
        refused(server, "DICT.COUNT", "d", *options)
    for options in [["BYTE"], [b"\xff"], ["BYTES", "SEED"], ["BYTES", "SEED", "x"], ["BYTES", "SEED", "-1"],
                    ["BYTES", "SEED", "1" * 21], ["NUMBERS", "LAYOUT", "tree"], ["NUMBERS", "WHAT", "1"], ["BYTES", "7"]]:
        refused(server, "DICT.RESERVE", "new", *options)
    refused(server, "DICT.SET", "new", b"x" * 65_537, "1", match="most is 65536")
    refused(server, "DICT.NUMBER", "new", "a", b"x" * 65_537, match="most is 65536")
    refused(server, "DICT.SET", "new", "a", "1", "b", b"x" * ((16 << 20) + 1), match="most is 16777216")
    assert server("EXISTS", "new") == 0, "a command that is refused leaves nothing behind"
    assert server("DICT.GET", "d", b"x" * 100_000) is None
    assert server("DICT.DEL", "d", b"x" * 100_000) == 0
    assert server("DICT.SET", "d", b"x" * 65_536, b"y" * (16 << 20)) == 1
    assert server("DICT.PREFIX", "d", "x") == [b"x" * 65_536, b"y" * (16 << 20)]
    assert server("DICT.RESERVE", "r", "numbers", "SEED", "7", "LAYOUT", "LOUDS") == b"OK"
    refused(server, "DICT.RESERVE", "r", "NUMBERS", match="exists already")
    refused(server, "DICT.SET", "r", "a", "1", match="numbers")


def operations(server: Server, chance: random.Random, count: int, models: dict[str, Model], numbers: dict[str, int]) -> None:
    """Random commands, whose answers must be those of the models. `numbers` has the next number of each dictionary."""
    for _ in range(count):
        name = f"{chance.choice(['bytes', 'numbers'])} {chance.randrange(4)}"
        model = models.setdefault(name, {})
        fields = [b"%d" % chance.randrange(3000) for _ in range(chance.randrange(1, 30))]
        match chance.randrange(8):
            case 0 | 1 | 2 if name.startswith("bytes"):
                values = [chance.randbytes(chance.choice([0, 1, 10, 100])) for _ in fields]
                before = len(model)
                model.update(zip(fields, values, strict=True))
                entries = [part for pair in zip(fields, values, strict=True) for part in pair]
                assert server("DICT.SET", name, *entries) == len(model) - before
            case 0 | 1 | 2:
                expected = []
                for field in fields:
                    if field not in model:
                        model[field] = numbers.get(name, 0)
                        numbers[name] = model[field] + 1
                    expected.append(model[field])
                assert server("DICT.NUMBER", name, *fields) == expected
            case 3:
                assert server("DICT.MGET", name, *fields) == [model.get(field) for field in fields]
            case 4:
                before = len(model)
                for field in fields:
                    model.pop(field, None)
                assert server("DICT.DEL", name, *fields) == before - len(model)
            case 5:
                prefix, limit = fields[0][: chance.randrange(4)], chance.choice([1, 10, 5000])
                found = sorted(entry for entry in model.items() if entry[0].startswith(prefix))
                assert pairs(server("DICT.PREFIX", name, prefix, "LIMIT", limit)) == found[:limit]
                assert server("DICT.COUNT", name, "PREFIX", prefix) == len(found)
            case 6:
                start, end, after = fields[0], fields[-1], chance.choice([b"", b"2"])
                found = sorted(entry for entry in model.items() if start <= entry[0] < end and entry[0] > after)
                reply = server("DICT.RANGE", name, start, end, "LIMIT", 5000, "AFTER", after)
                assert pairs(reply) == found
            case 7 if chance.random() < 0.02:
                server("DEL", name)
                model.clear()
                numbers.pop(name, None)
            case _:
                assert server("DICT.COUNT", name) == len(model)


@pytest.mark.parametrize("layout", ["compact", "louds"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_through_restarts_copies_and_replicas(servers: Callable[..., Server], seed: int, layout: str) -> None:
    print("seed", seed)
    chance, models, numbers = random.Random(seed), dict[str, Model](), dict[str, int]()
    # Windows of about a hundred fields, so that fields are in tries soon.
    server, replica = servers("--furui.dict-window", "4096"), servers("--furui.dict-window", "8192")
    replica("REPLICAOF", "127.0.0.1", server.port)
    for i in range(4):
        server("DICT.RESERVE", f"bytes {i}", "BYTES", "LAYOUT", layout)
        server("DICT.RESERVE", f"numbers {i}", "NUMBERS", "LAYOUT", layout)
    for _ in range(4):
        operations(server, chance, 1500, models, numbers)
        server("WAIT", 1, 10_000)
        assert replica.digest() == server.digest(), f"seed {seed}"
        digest = server.digest()
        server("DEBUG", "RELOAD")
        assert server.digest() == digest
        operations(server, chance, 100, models, numbers)
        digest = server.digest()
        server("CONFIG", "SET", "aof-use-rdb-preamble", chance.choice(["yes", "no"]))
        server("CONFIG", "SET", "appendonly", "yes")
        while server.client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.01)
        server("DEBUG", "LOADAOF")
        assert server.digest() == digest
        operations(server, chance, 300, models, numbers)
        digest = server.digest()
        server("DEBUG", "LOADAOF")
        assert server.digest() == digest
        server("CONFIG", "SET", "appendonly", "no")
        for name in sorted(models):
            if server("EXISTS", name):
                server("COPY", name, "copy", "REPLACE")
                assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", name)
                server("RESTORE", "copy", 0, server("DUMP", name), "REPLACE")
                assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", name)
                server("DEL", "copy")
                load(server, "copy", dump(server, name))
                assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", name)
                server("DEL", "copy")
    server("WAIT", 1, 10_000)
    assert replica.digest() == server.digest(), f"seed {seed}"
    replica("REPLICAOF", "NO", "ONE")
    operations(replica, chance, 1000, models, numbers)


def test_the_server_saves_while_threads_work(servers: Callable[..., Server]) -> None:
    server = servers("--furui.dict-window", "4096", "--appendonly", "yes")
    i, saves = 0, 0
    while saves < 8:
        # About ten windows are frozen and merged.
        for _ in range(2):
            server("DICT.NUMBER", "n", *range(i, i + 500))
            server("DICT.DEL", "n", *range(i - 5000, i - 4500))
            server("DICT.SET", "d", *[part for j in range(500) for part in ((i + j) % 5000, i)])
            i += 500
        if not server.client.info("persistence")["rdb_bgsave_in_progress"]:
            saves += 1
            server("BGSAVE")
    while server.client.info("persistence")["rdb_bgsave_in_progress"]:
        time.sleep(0.01)
    info = server.client.info("persistence")
    assert info["rdb_last_bgsave_status"] == "ok"
    assert server("DICT.COUNT", "n") == server("DICT.COUNT", "d") == 5000
    assert server("DICT.GET", "n", i - 1) == i - 1 and server("DICT.GET", "d", (i - 1) % 5000) == b"%d" % (i - 500)
    digest = server.digest()
    server.kill()
    server.start()
    assert server.digest() == digest


def test_limits_are_kept(servers: Callable[..., Server]) -> None:
    server = servers("--furui.dict-window", "8192")
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 20)
    for command, step in [("DICT.SET", 2), ("DICT.NUMBER", 1)]:
        with pytest.raises(redis.exceptions.ResponseError, match="furui.max-key-memory"):
            for i in range(0, 1_000_000, 1000):
                server(command, command, *[f"{i + j}" for j in range(1000)])
        assert 5_000 < server("DICT.COUNT", command) < 200_000
        assert server("MEMORY", "USAGE", command) < 1 << 20
    assert server("DICT.NUMBER", "DICT.NUMBER", *range(1000)) == [*range(1000)], "known fields need no memory"
    assert server("DICT.DEL", "DICT.NUMBER", "1") == 1
    refused(server, "DICT.SET", "new", "a", b"x" * (2 << 20), match="furui.max-key-memory")
    assert server("EXISTS", "new") == 0
    server("CONFIG", "SET", "furui.max-memory", 1 << 20, "furui.max-key-memory", 1 << 30)
    refused(server, "DICT.NUMBER", "t", *[f"t{i}" for i in range(60_000)], match="furui.max-memory")
    assert server("EXISTS", "t") == 0
    # A replica has taken over limits of its own; it does what the master does.
    replica = servers("--furui.max-key-memory", str(1 << 16), "--replicaof", f"127.0.0.1 {server.port}")
    server("CONFIG", "SET", "furui.max-memory", 0)
    server("DICT.SET", "d", *range(10_000))
    server("DICT.NUMBER", "n", *range(10_000))
    while replica.digest() != server.digest():
        time.sleep(0.01)


def test_info_tells_the_memory(servers: Callable[..., Server]) -> None:
    server = servers("--furui.dict-window", "65536")
    for i in range(0, 100_000, 1000):
        server("DICT.NUMBER", "n", *range(i, i + 1000))
    time.sleep(0.5)
    server("DICT.GET", "n", "1")
    time.sleep(0.5)
    server("DICT.GET", "n", "1")
    info = server.client.info("furui")
    assert info["furui_keys"] == 1
    assert abs(info["furui_memory"] - server("MEMORY", "USAGE", "n")) < 1000
    assert info["furui_memory"] <= 12 * 100_000
    server("DEL", "n")
    assert server.client.info("furui")["furui_memory"] == 0


def test_damaged_values_are_refused_and_the_server_stays(server: Server, program: str) -> None:
    server("DICT.NUMBER", "n", *range(2000))
    server("DICT.SET", "d", *range(2000))
    if program == "redis":
        server("CONFIG", "SET", "sanitize-dump-payload", "no")
    chance = random.Random(1)
    for name in ["n", "d"]:
        dumped, pieces = bytearray(server("DUMP", name)), dump(server, name)
        for _ in range(300):
            damaged = bytearray(dumped)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(damaged) - 10)] = chance.randrange(256)
            try:
                server("RESTORE", "copy", 0, bytes(damaged), "REPLACE")
            except redis.exceptions.ResponseError:
                pass
        server("DEL", "copy")
        for _ in range(300):
            which = chance.randrange(len(pieces))
            file, data = pieces[which]
            place = chance.randrange(len(data))
            data = data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
            with pytest.raises(redis.exceptions.ResponseError):
                load(server, "copy", [*pieces[:which], (file, data), *pieces[which + 1 :]])
            assert server("EXISTS", "copy") == 0
    # A file that the manifest does not name is no part of the dictionary, and takes no memory.
    load(server, "copy", [(b"junk", b"x" * 1_000_000), *dump(server, "n")])
    assert server("MEMORY", "USAGE", "copy") < 100_000
    assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", "n")


def test_events_and_docs(server: Server) -> None:
    server("CONFIG", "SET", "notify-keyspace-events", "KEA")
    listener = server.client.pubsub()
    listener.psubscribe("__keyspace@0__:*")
    server("DICT.SET", "d", "a", "1")
    server("DICT.NUMBER", "n", "a")
    server("DICT.NUMBER", "n", "a")
    server("DICT.DEL", "n", "a", "b")
    server("DICT.DEL", "n", "a", "b")
    server("DICT.RESERVE", "r", "BYTES")
    events = []
    while (message := listener.get_message(timeout=0.5)) is not None:
        if message["type"] == "pmessage":
            events.append(message["data"])
    assert [e for e in events if e.startswith(b"dict.")] == [
        b"dict.set", b"dict.number", b"dict.del", b"dict.reserve"]
    docs = str(server("COMMAND DOCS", "dict.prefix"))
    assert "in byte order" in docs and "deleted fields between them" in docs
    assert server.client.command_getkeys("DICT.GET", "s", "a") in ([b"s"], ["s"])


@pytest.fixture
def furui() -> Callable[..., bytes]:
    """Runs the program furui."""
    program = os.environ.get("FURUI_PROGRAM")
    if not program or not shutil.which(program):
        pytest.skip("FURUI_PROGRAM does not name the program furui")

    def run(*arguments: Any, text: str = "") -> bytes:
        done = subprocess.run([program, *map(str, arguments)], input=text.encode(), capture_output=True)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout

    return run


@pytest.mark.parametrize("layout", ["compact", "louds"])
def test_dictionaries_of_the_program_are_loaded(
    server: Server, furui: Callable[..., bytes], tmp_path: Path, layout: str
) -> None:
    for kind, old, value in [("bytes", "title 7", b"title 7"), ("numbers", "7", 7)]:
        store = tmp_path / f"{kind}.dict"
        lines = "".join(f"https://example.org/{i}\t{'title ' if kind == 'bytes' else ''}{i}\n" for i in range(10_000))
        furui("dict", "build", "--store", store, "--values", kind, "--layout", layout, text=lines)
        furui("dict", "delete", "--store", store, text="https://example.org/8\n")
        load(server, kind, [(path.name.encode(), path.read_bytes()) for path in sorted(store.iterdir())])
        assert server("DICT.COUNT", kind) == 9_999
        assert server("DICT.MGET", kind, "https://example.org/7", "https://example.org/8", "x") == [value, None, None]
        if kind == "bytes":
            server("DICT.SET", kind, "new", "of the server")
        else:
            assert server("DICT.NUMBER", kind, "new") == [10_000], "numbers go on above those that were put"
        # And back.
        back = tmp_path / f"back.{kind}.dict"
        back.mkdir()
        for name, data in dump(server, kind):
            (back / name.decode()).write_bytes(data)
        furui("verify", back)
        assert furui("dict", "get", "--store", back, text="https://example.org/7\nhttps://example.org/8\nnew\n") == (
            f"https://example.org/7\t{old}\nnew\t{'of the server' if kind == 'bytes' else '10000'}\n".encode())
    server("DICT.NUMBER", "n", *"abc")
    back = tmp_path / "n.dict"
    back.mkdir()
    for name, data in dump(server, "n"):
        (back / name.decode()).write_bytes(data)
    assert furui("dict", "number", "--store", back, text="c\nd\n") == b"2\n3\n"
