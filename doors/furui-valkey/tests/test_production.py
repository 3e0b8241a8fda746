"""What an operator relies on: other limits, slot moves, memory that the server counts, access lists, clocks."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import redis
from cluster import until
from server import Server
from test_transfer import dump, load

NOON = 1_800_000_000_000


def some(what: str, count: int, first: int = 0) -> list[str]:
    return [f"{what} {number}" for number in range(first, first + count)]


def fill(server: Server, turn: int) -> None:
    """Adds a thousand members to a key of each kind."""
    members = some("member", 1000, 1000 * turn)
    for command in [
        ["SEEN.ADD", "set", *members],
        ["SIEVE.ADD", "scalable", *members],
        ["SIEVE.ADD", "window", *members],
        ["BF.MADD", "bf", *members],
        ["CF.INSERT", "cf", "ITEMS", *members],
        ["DICT.NUMBER", "numbers", *members],
        ["DICT.SET", "bytes", *[text for member in members for text in (member, "value")]],
    ]:
        try:
            server(*command)
        except redis.exceptions.ResponseError as error:
            assert "furui.max" in str(error)


@pytest.mark.parametrize("limit", [("max-key-memory", 1 << 16), ("max-memory", 1 << 18)])
def test_a_replica_takes_what_its_master_took(servers: Callable[..., Server], limit: tuple[str, int]) -> None:
    master = servers("BF", "CF")
    replica = servers("BF", "CF", f"--furui.{limit[0]}", str(limit[1]), "--replicaof", f"127.0.0.1 {master.port}")
    master("SIEVE.RESERVE", "scalable", "scalable", "0.001", 100)
    master("SIEVE.RESERVE", "window", "window", "0.001", 100, "WINDOW", "1d")
    for turn in range(20):
        fill(master, turn)
    master("COPY", "set", "copy")
    assert master("WAIT", 1, 20_000) == 1
    assert replica.digest() == master.digest()
    assert master("SEEN.CARD", "set") == 20_000
    assert replica("SEEN.CARD", "copy") == 20_000
    replica("REPLICAOF", "NO", "ONE")
    # It is a master now, and its limit holds again.
    with pytest.raises(redis.exceptions.ResponseError, match=f"furui.{limit[0]}"):
        replica("SEEN.ADD", "set", *some("new", 20_000))


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_keys_at_their_limit_survive_a_rewrite(servers: Callable[..., Server], preamble: str) -> None:
    options = ["--appendonly", "yes", "--aof-use-rdb-preamble", preamble, "--furui.max-key-memory", str(1 << 20)]
    server = servers("BF", "CF", *options)
    server("SIEVE.RESERVE", "scalable", "scalable", "0.001", 100)
    server("SIEVE.RESERVE", "window", "window", "0.001", 100, "WINDOW", "1d")
    for turn in range(150):
        fill(server, turn)
    before, card = server.digest(), server("SEEN.CARD", "set")
    for key in server("KEYS", "*"):
        assert server("MEMORY", "USAGE", key) <= (1 << 20) * 1.02 + 200, key
    # Each of them can be fetched as files, and put back.
    load(server, "back", dump(server, "set"))
    assert server("SEEN.CARD", "back") == card
    server("DEL", "back")
    server("BGREWRITEAOF")
    until(lambda: not server("INFO", "persistence")["aof_rewrite_in_progress"], "rewritten")
    server.restart()
    assert server.digest() == before and server("SEEN.CARD", "set") == card


@pytest.mark.parametrize("seed", range(3))
def test_random_histories_with_unequal_limits(servers: Callable[..., Server], seed: int) -> None:
    chance = random.Random(seed)
    print("seed", seed)
    preamble = chance.choice(["yes", "no"])
    master = servers("BF", "CF", "--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
    small = ["--furui.max-key-memory", str(1 << 16), "--furui.max-memory", str(1 << 19)]
    replica = servers("BF", "CF", *small, "--replicaof", f"127.0.0.1 {master.port}")
    master("SIEVE.RESERVE", "scalable", "scalable", "0.001", 100)
    master("SIEVE.RESERVE", "window", "window", "0.001", 100, "WINDOW", 5000)
    for turn in range(40):
        name = chance.choice(["max-key-memory", "max-memory"])
        master("CONFIG", "SET", f"furui.{name}", chance.choice([1 << 16, 1 << 18, 1 << 20, 1 << 30]))
        fill(master, turn)
        match chance.randrange(8):
            case 0:
                master("COPY", chance.choice(["set", "bf", "cf", "numbers"]), f"copy {turn}")
            case 1:
                master("SEEN.FORGET", "set", *some("member", 500, chance.randrange(20_000)))
            case 2:
                key = chance.choice(["set", "window", "bytes"])
                if master("EXISTS", key):
                    master("RESTORE", f"restored {turn}", 0, master("DUMP", key))
            case 3:
                master("DEL", chance.choice(["set", "bf"]))
    assert master("WAIT", 1, 20_000) == 1
    before = master.digests()
    assert replica.digests() == before
    master("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    master("BGREWRITEAOF")
    until(lambda: not master("INFO", "persistence")["aof_rewrite_in_progress"], "rewritten")
    master("DEBUG", "LOADAOF")
    assert master.digests() == before


@pytest.mark.parametrize("window", [[], ["WINDOW", "1000000"], ["WINDOW", "1d"]])
def test_sets_of_any_size_are_copied(server: Server, window: list[str]) -> None:
    for size in [1000, 100_000, 400_000]:
        name = f"set {size}"
        server("SEEN.RESERVE", name, *window)
        for first in range(0, size, 50_000):
            server("SEEN.ADD", name, *some("member", min(50_000, size), first))
        digest = server("DEBUG", "DIGEST-VALUE", name)
        assert server("COPY", name, "copy", "REPLACE") == 1
        assert server("RESTORE", "restored", 0, server("DUMP", name), "REPLACE") == b"OK"
        assert server("MOVE", "copy", 1) == 1
        assert server("DEBUG", "DIGEST-VALUE", "restored") == digest
        other = redis.Redis(port=server.port, db=1)
        assert other.execute_command("DEBUG", "DIGEST-VALUE", "copy") == digest
        other.flushdb()


def test_the_server_counts_the_memory(server: Server) -> None:
    used = lambda: server("INFO", "memory")["used_memory"]  # noqa: E731
    for reserve, least in [
        (["SIEVE.RESERVE", "f", "blocked", "0.001", 20_000_000], 30_000_000),
        (["SIEVE.RESERVE", "q", "quotient", "0.001", 5_000_000], 8_000_000),
    ]:
        before = used()
        server(*reserve)
        assert used() - before >= least
    before = used()
    for first in range(0, 1_000_000, 50_000):
        server("SEEN.ADD", "s", *some("member", 50_000, first))
    # An allocator may round sizes up by a quarter.
    grown = used() - before
    assert 0 <= grown - server("MEMORY", "USAGE", "s") < 0.25 * grown
    server("CONFIG", "SET", "maxmemory", used() + 1_000_000)
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        for number in range(10):
            server("SIEVE.RESERVE", f"more {number}", "blocked", "0.001", 2_000_000)
    server("CONFIG", "SET", "maxmemory", 0)
    server("FLUSHALL", "SYNC")
    assert used() < 12_000_000


def test_a_limit_of_a_key_is_firm(server: Server) -> None:
    limit = 1 << 20
    server("CONFIG", "SET", "furui.max-key-memory", limit)
    for number in range(12):
        first = 0
        try:
            while True:
                server("SEEN.ADD", f"s {number}", *some("member", 97, first))
                first += 97
        except redis.exceptions.ResponseError as error:
            assert "furui.max-key-memory" in str(error)
        assert server("MEMORY", "USAGE", f"s {number}") <= 1.02 * limit


def test_a_user_who_may_read_may_ask(server: Server, program: str) -> None:
    server("ACL", "SETUSER", "asker", "on", "nopass", "%R~*", "+@all")
    asker = redis.Redis(port=server.port, username="asker", password="any")
    server("SEEN.ADD", "s", "a")
    assert asker.execute_command("SEEN.HAS", "s", "a", "b") == [1, 0]
    assert asker.execute_command("SEEN.CARD", "s") == 1
    for command in [["SEEN.ADD", "s", "b"], ["SEEN.FORGET", "s", "a"], ["SIEVE.RESERVE", "f", "bloom", "0.1", 10]]:
        with pytest.raises(redis.exceptions.NoPermissionError):
            asker.execute_command(*command)
    flags = lambda *command: server("COMMAND GETKEYSANDFLAGS", *command)  # noqa: E731
    assert flags("SEEN.HAS", "s", "a") == [[b"s", [b"RO", b"access"]]]
    assert flags("SEEN.ADD", "s", "a") == [[b"s", [b"RW", b"access", b"insert"]]]
    assert flags("SEEN.FORGET", "s", "a") == [[b"s", [b"RW", b"access", b"delete"]]]
    read = [b"RO", b"access"]
    assert flags("SIEVE.MERGE", "d", "a", "b") == [[b"d", [b"RW", b"access", b"insert"]], [b"a", read], [b"b", read]]
    server("ACL", "SETUSER", "merger", "on", "nopass", "~d", "%R~a", "+@all")
    merger = redis.Redis(port=server.port, username="merger", password="any")
    server("SIEVE.RESERVE", "a", "bloom", "0.1", 10)
    assert merger.execute_command("SIEVE.MERGE", "d", "a") == b"OK"


def test_categories_of_access_lists(servers: Callable[..., Server], program: str) -> None:
    if program == "redis":
        pytest.skip("SKIPPED: Redis 7.0 has no categories of commands of modules")
    server = servers("BF", "CF")
    names = {name for name in server("ACL", "CAT")}
    assert {b"furui", b"bloom", b"cuckoo"} <= names
    found = lambda category: {name.lower() for name in server("ACL", "CAT", category)}  # noqa: E731
    assert {b"seen.add", b"sieve.has", b"dict.get", b"furui.dump"} <= found("furui")
    assert b"bf.add" in found("bloom") and b"cf.add" in found("cuckoo") and b"bf.add" not in found("furui")
    assert {b"seen.has", b"bf.exists"} <= found("read") and {b"seen.add", b"cf.del"} <= found("write")
    assert {b"seen.at", b"sieve.at", b"furui.load"} <= found("dangerous")
    assert b"seen.add" in found("fast") and b"furui.dump" in found("slow")
    server("ACL", "SETUSER", "x", "on", "nopass", "~*", "+@bloom", "-@dangerous")


def test_arguments_are_documented(servers: Callable[..., Server]) -> None:
    server = servers("BF", "CF")
    docs = server("COMMAND DOCS")
    docs = docs if isinstance(docs, dict) else dict(zip(docs[::2], docs[1::2]))
    mine = {name: found for name, found in docs.items() if name.lower().split(b".")[0] in
            (b"seen", b"sieve", b"dict", b"furui", b"bf", b"cf")}
    assert len(mine) == 49
    for name, found in mine.items():
        fields = found if isinstance(found, dict) else dict(zip(found[::2], found[1::2]))
        assert fields[b"arguments"], name
    text = str(mine[b"seen.reserve"])
    assert "WINDOW" in text and "optional" in text and "SEED" in text


def test_only_changes_touch_keys(servers: Callable[..., Server]) -> None:
    server = servers("BF", "CF")
    server("SEEN.ADD", "s", "a")
    server("BF.ADD", "b", "a")
    server("SIEVE.RESERVE", "f", "bloom", "0.001", 1000)
    server("SIEVE.ADD", "f", "a")
    server("DICT.NUMBER", "d", "a")
    for key, same, other in [
        ("s", ["SEEN.ADD", "s", "a"], ["SEEN.ADD", "s", "b"]),
        ("s", ["SEEN.FORGET", "s", "x"], ["SEEN.FORGET", "s", "a"]),
        ("b", ["BF.ADD", "b", "a"], ["BF.ADD", "b", "b"]),
        ("f", ["SIEVE.ADD", "f", "a"], ["SIEVE.ADD", "f", "b"]),
        ("d", ["DICT.NUMBER", "d", "a"], ["DICT.NUMBER", "d", "b"]),
    ]:
        for command, is_touched in [(same, False), (other, True)]:
            with server.client.pipeline() as watching:
                watching.watch(key)
                server(*command)
                watching.multi()
                watching.ping()
                try:
                    watching.execute()
                    assert not is_touched, command
                except redis.exceptions.WatchError:
                    assert is_touched, command


def test_a_clock_that_was_wrong_is_forgotten(servers: Callable[..., Server]) -> None:
    server = servers(clock=True)
    server.set_clock(NOON)
    server("SEEN.RESERVE", "s", "WINDOW", "160s")
    server("SIEVE.RESERVE", "f", "window", "0.001", 1000, "WINDOW", "160s")
    commands = [("SEEN.ADD", "SEEN.HAS", "s"), ("SIEVE.ADD", "SIEVE.HAS", "f")]
    # An hour ahead, then right again: what was recorded meanwhile fades as if it had been recorded now.
    server.set_clock(NOON + 3_600_000)
    for add, _, key in commands:
        assert server(add, key, "ahead") == [1]
    server.set_clock(NOON + 1000)
    for add, has, key in commands:
        assert server(has, key, "ahead") == [1]
        assert server(add, key, "right") == [1]
        assert server(has, key, "ahead", "right") == [1, 1]
    server.set_clock(NOON + 1000 + 170_000 + 10_000)
    for _, has, key in commands:
        assert server(has, key, "ahead", "right") == [0, 0]
    # A step of less than a slice is not undone.
    for add, _, key in commands:
        server(add, key, "b")
    server.set_clock(NOON + 175_000)
    for add, _, key in commands:
        assert server(add, key, "b", "c") == [0, 1]


def test_idle_windows_give_back_what_has_faded(servers: Callable[..., Server]) -> None:
    master = servers("--appendonly", "yes", clock=True)
    replica = servers("--replicaof", f"127.0.0.1 {master.port}")
    master.set_clock(NOON)
    for number in range(20):
        master("SEEN.RESERVE", f"s {number}", "WINDOW", "1h")
        master("SEEN.ADD", f"s {number}", *some("member", 5000))
    master("SIEVE.RESERVE", "f", "window", "0.001", 100, "WINDOW", "1h")
    master("SIEVE.ADD", "f", *some("item", 50_000))
    full = master("INFO", "furui")["furui_memory"]
    master.set_clock(NOON + 4_000_000)
    assert master("SEEN.CARD", "s 3") == 0, "as SEEN.HAS says"
    until(lambda: master("INFO", "furui")["furui_memory"] < full / 20, "memory is given back")
    assert master("WAIT", 1, 20_000) == 1 and replica.digest() == master.digest()
    before = master.digest()
    master.restart()
    assert master.digest() == before


@pytest.mark.parametrize("mode", ["disabled", "swapdb"])
def test_a_replica_loads_beside_what_it_has(servers: Callable[..., Server], mode: str, program: str) -> None:
    master = servers("BF", "CF")
    options = master.client.execute_command("INFO", "modules")
    assert "handle-repl-async-load" in str(options) and "handle-io-errors" in str(options)
    assert program == "redis" or "handle-atomic-slot-migration" in str(options)
    master("SIEVE.RESERVE", "scalable", "scalable", "0.001", 100)
    master("SIEVE.RESERVE", "window", "window", "0.001", 100, "WINDOW", "1d")
    replica = servers("BF", "CF", "--repl-diskless-load", mode, "--replicaof", f"127.0.0.1 {master.port}")
    for turn in range(5):
        fill(master, turn)
        assert master("WAIT", 1, 20_000) == 1
        # It must load everything again, beside the keys that it has.
        replica("REPLICAOF", "NO", "ONE")
        fill(replica, 100 + turn)
        replica("REPLICAOF", "127.0.0.1", master.port)
        fill(master, 10 + turn)
        until(lambda: replica.client.info("replication").get("master_link_status") == "up", "a replica")
        assert master("WAIT", 1, 20_000) == 1
        assert replica.digests() == master.digests()


def test_nothing_fades_while_a_failover_has_stopped_writes(servers: Callable[..., Server]) -> None:
    """A server that replicates anything during such a pause ends, because its replica could lose it."""
    server = servers("--appendonly", "yes", clock=True)
    server.set_clock(NOON)
    server("SEEN.RESERVE", "s", "WINDOW", "1h")
    server("SEEN.ADD", "s", *some("member", 5000))
    server("CLIENT", "PAUSE", 10_000_000, "WRITE")
    server.set_clock(NOON + 4_000_000)
    begun = server("INFO", "server")["uptime_in_seconds"]
    until(lambda: server("INFO", "server")["uptime_in_seconds"] >= begun + 3, "some calls of the timer")
    assert server("INFO", "furui")["furui_members"] == 5000
    server("CLIENT", "UNPAUSE")
    until(lambda: server("INFO", "furui")["furui_members"] == 0, "memory is given back")


def test_info_counts(servers: Callable[..., Server]) -> None:
    server = servers("BF", "CF")
    server("SEEN.ADD", "s", "a", "b", "a")
    server("BF.ADD", "b", "a")
    server("DICT.NUMBER", "d", "a", "b", "c")
    server("SEEN.RESERVE", "w", "WINDOW", "1h")
    server("SEEN.ADD", "w", "a")
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 16)
    with pytest.raises(redis.exceptions.ResponseError):
        server("SIEVE.RESERVE", "f", "bloom", "0.001", 1_000_000)
    info = server("INFO", "furui")
    found: Callable[[str], Any] = lambda name: info[f"furui_{name}"]
    assert (found("keys"), found("sets"), found("filters"), found("dictionaries")) == (4, 2, 1, 1)
    assert (found("members"), found("fields"), found("window_slices")) == (3, 3, 1)
    assert (found("answers_new"), found("answers_seen")) == (3, 1)
    assert (found("refused_by_max_key_memory"), found("refused_by_max_memory")) == (1, 0)
    assert found("threads") == 2 and found("dumps") == 0 and found("memory") > 0
    modules = {module[b"name"]: module for module in server.client.module_list()}
    assert modules[b"furui"][b"ver"] == 100
