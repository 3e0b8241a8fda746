"""Values move between servers, and between a server and the program furui, as files."""

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
from cluster import until
from server import Server


def dump(server: Server, key: str) -> list[tuple[bytes, bytes]]:
    """All pieces of a value: the name of the file, and its bytes."""
    pieces, place, count = [], 1, 1
    dump: list[int] = []
    while place <= count:
        found, count, name, data, *dump = server("FURUI.DUMP", key, place, *dump)
        assert found == place
        pieces.append((name, data))
        place += 1
    return pieces


def load(server: Server, key: str, pieces: list[tuple[bytes, bytes]]) -> None:
    for i, (name, data) in enumerate(pieces):
        assert server("FURUI.LOAD", key, f"{i + 1}/{len(pieces)}", name, data) == b"OK"


def test_a_set_moves_to_another_server(servers: Callable[..., Server]) -> None:
    a, b = servers(), servers()
    a("SEEN.ADD", "s", *[f"m{i}" for i in range(10_000)])
    load(b, "t", dump(a, "s"))
    assert b("SEEN.HAS", "t", "m0", "m9999", "m10000") == [1, 1, 0]
    assert a("DEBUG", "DIGEST-VALUE", "s") == b("DEBUG", "DIGEST-VALUE", "t")
    assert b("SEEN.CARD", "t") == 10_000


def test_large_sets_have_pieces_of_one_moment(server: Server) -> None:
    for i in range(0, 4_000_000, 50_000):
        server("SEEN.ADD", "s", *range(i, i + 50_000))
    first = server("FURUI.DUMP", "s", 1)
    assert first[1] > 1 and len(first[3]) == 16 << 20
    server("SEEN.ADD", "s", "later")
    server("SEEN.ADD", "other", "a")
    server("FURUI.LOAD", "copy", f"1/{first[1]}", first[2], first[3])
    with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
        server("SEEN.CARD", "copy")
    for place in range(2, first[1] + 1):
        _, _, name, data, _ = server("FURUI.DUMP", "s", place, first[4])
        server("FURUI.LOAD", "copy", f"{place}/{first[1]}", name, data)
    assert server("SEEN.CARD", "copy") == 4_000_000
    assert server("SEEN.HAS", "copy", "0", "3999999", "later") == [1, 1, 0]
    with pytest.raises(redis.exceptions.ResponseError, match="begin again"):
        server("FURUI.DUMP", "s", 2, first[4])


def test_several_dumps_at_a_time_are_each_of_one_moment(servers: Callable[..., Server]) -> None:
    server = servers(clock=True)
    server("SEEN.ADD", "a", "m")
    begun = []
    for number in range(8):
        begun.append(server("FURUI.DUMP", "a", 1))
        server("SEEN.ADD", "a", number)
    assert server("INFO", "furui")["furui_dumps"] == 8 and server("INFO", "furui")["furui_keys"] == 1
    # One more ends the first.
    server("FURUI.DUMP", "a", 1)
    for number, (_, count, name, data, dump) in enumerate(begun):
        if number == 0:
            with pytest.raises(redis.exceptions.ResponseError, match="begin again"):
                server("FURUI.DUMP", "a", 2, dump)
            continue
        pieces = [(name, data), *[tuple(server("FURUI.DUMP", "a", place, dump)[2:4]) for place in range(2, count + 1)]]
        load(server, f"copy {number}", pieces)
        assert server("SEEN.CARD", f"copy {number}") == number + 1
    # The last one was left; its files go after a minute.
    assert server("INFO", "furui")["furui_dumps"] == 1
    server.set_clock(int(time.time() * 1000) + 61_000)
    until(lambda: server("INFO", "furui")["furui_dumps"] == 0, "no dump")
    assert server("INFO", "furui")["furui_dump_memory"] == 0
    for wrong in ["0", "3", "-1", "x", "99999999999999999999"]:
        with pytest.raises(redis.exceptions.ResponseError):
            server("FURUI.DUMP", "a", wrong)
    with pytest.raises(redis.exceptions.ResponseError, match="no such key"):
        server("FURUI.DUMP", "none", 1)
    server("SET", "text", "a")
    with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
        server("FURUI.DUMP", "text", 1)


def test_pieces_in_disorder_are_refused(server: Server) -> None:
    server("SEEN.ADD", "s", "a", "b")
    pieces = dump(server, "s")
    for place in ["2/2", "0/2", "1/0", "2/1", "1", "/", "a/b", "1/9999999999", "-1/2"]:
        with pytest.raises(redis.exceptions.ResponseError):
            server("FURUI.LOAD", "t", place, "MANIFEST", "x")
        assert server("EXISTS", "t") == 0
    server("FURUI.LOAD", "t", "1/2", *pieces[0])
    for place, name in [("1/2", "x"), ("2/3", "x"), ("2/2", "../x"), ("2/2", ""), ("2/2", ".x")]:
        with pytest.raises(redis.exceptions.ResponseError):
            server("FURUI.LOAD", "t", place, name, "x")
    server("FURUI.LOAD", "t", "2/2", *pieces[1])
    assert server("SEEN.CARD", "t") == 2
    with pytest.raises(redis.exceptions.ResponseError, match="exists already"):
        server("FURUI.LOAD", "t", "1/2", *pieces[0])


def test_damaged_files_are_refused(server: Server) -> None:
    server("SEEN.ADD", "s", *range(1000))
    pieces, chance = dump(server, "s"), random.Random(1)
    for _ in range(300):
        which = chance.randrange(len(pieces))
        name, data = pieces[which]
        if chance.random() < 0.5:
            place = chance.randrange(len(data))
            data = data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
        else:
            data = data[: chance.randrange(len(data))]
        damaged = [*pieces[:which], (name, data), *pieces[which + 1 :]]
        with pytest.raises(redis.exceptions.ResponseError):
            load(server, "t", damaged)
        assert server("EXISTS", "t") == 0
    assert server("INFO", "furui")["furui_keys"] == 1


def test_half_a_value_survives_restarts_and_reaches_replicas(servers: Callable[..., Server]) -> None:
    server = servers("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    server("SEEN.ADD", "s", *range(1000))
    pieces = dump(server, "s")
    server("FURUI.LOAD", "t", "1/2", *pieces[0])
    before = server.digest()
    server("BGREWRITEAOF")
    while server("INFO", "persistence")["aof_rewrite_in_progress"]:
        pass
    server.restart()
    assert server.digest() == before
    server("DEBUG", "RELOAD")
    assert server.digest() == before
    server("COPY", "t", "u")
    server("FURUI.LOAD", "t", "2/2", *pieces[1])
    server("FURUI.LOAD", "u", "2/2", *pieces[1])
    assert server("SEEN.HAS", "t", "0", "x") == server("SEEN.HAS", "u", "0", "x") == [1, 0]
    replica = servers("--replicaof", f"127.0.0.1 {server.port}")
    while server.digest() != replica.digest():
        pass


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


def test_a_store_of_the_program_is_loaded(server: Server, furui: Callable[..., bytes], tmp_path: Path) -> None:
    store = tmp_path / "crawl.seen"
    lines = "".join(f"https://example.org/{i}\n" for i in range(10_000))
    furui("seen", "--store", store, "-q", text=lines)
    furui("compact", store)
    files = [(path.name.encode(), path.read_bytes()) for path in sorted(store.iterdir()) if path.name != "LOCK"]
    load(server, "crawl", files)
    assert server("SEEN.CARD", "crawl") == 10_000
    assert server("SEEN.ADD", "crawl", "https://example.org/7", "https://example.org/new") == [0, 1]
    # And back.
    back = tmp_path / "back.seen"
    back.mkdir()
    for name, data in dump(server, "crawl"):
        (back / name.decode()).write_bytes(data)
    furui("verify", back)
    found = furui("has", back, text="https://example.org/new\nhttps://example.org/9999\nhttps://example.org/x\n")
    assert found == b"https://example.org/new\nhttps://example.org/9999\n"


def test_a_dictionary_of_the_program_keeps_its_purpose(
    server: Server, furui: Callable[..., bytes], tmp_path: Path
) -> None:
    for purpose, make, text, value in [
        ("counts", ["count"], "a\na\n", 2),
        ("values", ["build", "--values", "values"], "a\t7\n", 7),
        ("numbers", ["build"], "a\t7\n", 7),
    ]:
        store = tmp_path / purpose
        furui("dict", *make, "--store", store, text=text)
        files = [(path.name.encode(), path.read_bytes()) for path in sorted(store.iterdir()) if path.name != "LOCK"]
        load(server, purpose, files)
        assert server("DICT.GET", purpose, "a") == value
        with pytest.raises(redis.ResponseError, match=f"dictionary of {purpose}"):
            server("DICT.SET", purpose, "a", "1")
        if purpose == "numbers":
            assert server("DICT.NUMBER", purpose, "a", "b") == [7, 8], "above the greatest that was put"
        else:
            with pytest.raises(redis.ResponseError, match=f"dictionary of {purpose}"):
                server("DICT.NUMBER", purpose, "a")
            server("COPY", purpose, f"copy of {purpose}")
            with pytest.raises(redis.ResponseError, match=f"dictionary of {purpose}"):
                server("DICT.NUMBER", f"copy of {purpose}", "b")
