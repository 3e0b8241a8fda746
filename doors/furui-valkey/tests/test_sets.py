"""Sets answer as Python's own sets do, through restarts, copies and replicas, and no argument ends the server."""

import random
import time
from collections.abc import Callable

import pytest
import redis
from server import Server


def test_a_member_is_new_once(server: Server) -> None:
    assert server("SEEN.ADD", "s", "a", "b", "a") == [1, 1, 0]
    assert server("SEEN.ADD", "s", "a") == [0]
    assert server("SEEN.HAS", "s", "a", "c") == [1, 0]
    assert server("SEEN.HAS", "none", "a", "c") == [0, 0]
    assert server("SEEN.CARD", "s") == 2
    assert server("SEEN.CARD", "none") == 0
    assert server("SEEN.FORGET", "s", "a", "c") == [1, 0]
    assert server("SEEN.FORGET", "none", "a") == [0]
    assert server("SEEN.ADD", "s", "a", "b") == [1, 0]
    assert server("TYPE", "s") == b"furui-set"
    assert server("SEEN.ADD", "s", b"\x00\xff", "") == [1, 1]


def test_wrong_arguments_are_refused(server: Server) -> None:
    server("SET", "text", "a")
    for command in ["SEEN.ADD", "SEEN.HAS", "SEEN.FORGET"]:
        with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
            server(command, "text", "a")
        with pytest.raises(redis.exceptions.ResponseError, match="wrong number"):
            server(command, "s")
    with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
        server("SEEN.RESERVE", "text")
    assert server("SEEN.RESERVE", "s", "SEED", "7") == b"OK"
    for window in ["500ms", "90s", "1.5h", "7d", "1000000"]:
        assert server("SEEN.RESERVE", f"w {window}", "SEED", "0x2a", "WINDOW", window) == b"OK"
    with pytest.raises(redis.exceptions.ResponseError, match="exists already"):
        server("SEEN.RESERVE", "s")
    for wrong in [["SEED"], ["SEED", "x"], ["WINDOW"], ["WINDOW", "0"], ["WINDOW", "-1"], ["WINDOW", "nan"], ["WHAT", "1"],
                  ["WINDOW", "99999999999999999999d"], ["WINDOW", "\r\n"], [b"\xff", "1"]]:
        with pytest.raises(redis.exceptions.ResponseError):
            server("SEEN.RESERVE", "new", *wrong)
    assert server("EXISTS", "new") == 0


def test_a_window_of_members(server: Server) -> None:
    server("SEEN.RESERVE", "s", "WINDOW", "160")
    assert server("SEEN.ADD", "s", "a") == [1]
    assert server("SEEN.ADD", "s", *["a"] * 500) == [0] * 500
    server("SEEN.ADD", "s", *[f"m{i}" for i in range(180)])
    assert server("SEEN.ADD", "s", "a") == [1], "170 other members came since"
    assert server("SEEN.CARD", "s") < 200


#: A time on the clock of a server, in milliseconds: a multiple of the windows of the tests.
NOON = 1_800_000_000_000


def test_a_window_of_time(servers: Callable[..., Server]) -> None:
    server = servers(clock=True)
    server("SEEN.RESERVE", "s", "WINDOW", "1600s")
    for time, members, answers in [
        (10_000, ["a"], [1]),
        (11_000, ["a", "b"], [0, 1]),
        # It was seen again at 11,000.
        (12_500, ["a"], [0]),
        (15_000, ["a"], [1]),
    ]:
        server.set_clock(NOON + 1000 * time)
        assert server("SEEN.ADD", "s", *members) == answers
        assert server("SEEN.HAS", "s", *members) == [1] * len(members)
    with pytest.raises(redis.exceptions.ResponseError, match="only a master"):
        server("SEEN.AT", "s", NOON + 9000, "a")


def operations(server: Server, chance: random.Random, count: int, models: dict[str, set[str]]) -> None:
    """Random commands, whose answers must be those of the models."""
    for _ in range(count):
        name = f"set {chance.randrange(20)}"
        model = models.setdefault(name, set())
        members = [str(chance.randrange(200)) for _ in range(chance.randrange(1, 6))]
        match chance.randrange(5):
            case 0 | 1:
                expected = []
                for member in members:
                    expected.append(int(member not in model))
                    model.add(member)
                assert server("SEEN.ADD", name, *members) == expected
            case 2:
                assert server("SEEN.HAS", name, *members) == [int(member in model) for member in members]
            case 3:
                expected = []
                for member in members:
                    expected.append(int(member in model))
                    model.discard(member)
                assert server("SEEN.FORGET", name, *members) == expected
            case 4 if chance.random() < 0.1:
                server("DEL", name)
                model.clear()
            case _:
                assert server("SEEN.CARD", name) == len(model)


@pytest.mark.parametrize("seed", [1])
def test_a_model_through_restarts_copies_and_replicas(servers: Callable[..., Server], seed: int) -> None:
    chance, models = random.Random(seed), dict[str, set[str]]()
    server, replica = servers(), servers()
    replica("REPLICAOF", "127.0.0.1", server.port)
    for _ in range(5):
        operations(server, chance, 4000, models)
        server("WAIT", 1, 10_000)
        assert replica.digest() == server.digest(), f"seed {seed}"
        digest = server.digest()
        server("DEBUG", "RELOAD")
        assert server.digest() == digest
        server("CONFIG", "SET", "aof-use-rdb-preamble", chance.choice(["yes", "no"]))
        server("CONFIG", "SET", "appendonly", "yes")
        while server.client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.01)
        server("DEBUG", "LOADAOF")
        assert server.digest() == digest
        server("CONFIG", "SET", "appendonly", "no")
        name = chance.choice(sorted(models))
        if server("EXISTS", name):
            server("COPY", name, "copy", "REPLACE")
            assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", name)
            dumped = server("DUMP", name)
            server("RESTORE", "copy", 0, dumped, "REPLACE")
            assert server("DEBUG", "DIGEST-VALUE", "copy") == server("DEBUG", "DIGEST-VALUE", name)
            server("DEL", "copy")
    replica("REPLICAOF", "NO", "ONE")
    operations(replica, chance, 2000, models)


def test_damaged_values_are_refused_and_the_server_stays(server: Server, program: str) -> None:
    server("SEEN.ADD", "s", *[str(i) for i in range(5000)])
    dumped = bytearray(server("DUMP", "s"))
    server("DEBUG", "SET-DISABLE-DENY-SCRIPTS", "0")
    if program == "redis":
        server("CONFIG", "SET", "sanitize-dump-payload", "no")
    chance = random.Random(1)
    for _ in range(2000):
        damaged = bytearray(dumped)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged) - 10)] = chance.randrange(256)
        try:
            server("RESTORE", "copy", 0, bytes(damaged), "REPLACE")
        except redis.exceptions.ResponseError:
            pass
    assert server("PING")


def test_limits_are_kept(server: Server) -> None:
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 20)
    with pytest.raises(redis.exceptions.ResponseError, match="furui.max-key-memory"):
        for i in range(0, 1_000_000, 1000):
            server("SEEN.ADD", "s", *[str(i + j) for j in range(1000)])
    assert server("SEEN.CARD", "s") < 130_000
    assert server("SEEN.ADD", "s", "1") == [0]
    server("CONFIG", "SET", "furui.max-memory", 1 << 20)
    with pytest.raises(redis.exceptions.ResponseError, match="furui.max-memory"):
        server("SEEN.ADD", "t", *[f"t{i}" for i in range(60_000)])


def test_info_tells_the_memory(server: Server) -> None:
    server("SEEN.ADD", "s", *[str(i) for i in range(10_000)])
    info = server.client.info("furui")
    assert info["furui_keys"] == 1
    assert abs(info["furui_memory"] - server("MEMORY", "USAGE", "s")) < 1000
    assert info["furui_memory"] <= 13 * 10_000
    server("DEL", "s")
    assert server.client.info("furui")["furui_memory"] == 0


def test_acl_and_docs(server: Server) -> None:
    server("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@read", "+seen.has", "-seen.add")
    reader = redis.Redis(port=server.port, username="reader", password="any")
    assert reader.execute_command("SEEN.HAS", "s", "a") == [0]
    with pytest.raises(redis.exceptions.NoPermissionError):
        reader.execute_command("SEEN.ADD", "s", "a")
    docs = str(server("COMMAND DOCS", "seen.add"))
    assert "says for each whether it is new" in docs and "O(N) with N members" in docs
    assert [bytes(key) if isinstance(key, bytes) else key.encode() for key in
            server.client.command_getkeys("SEEN.ADD", "s", "a")] == [b"s"]


def test_keys_tell_what_they_hold(server: Server) -> None:
    server("SEEN.RESERVE", "s", "SEED", "7", "WINDOW", "12h")
    server("SEEN.ADD", "s", "a", "b")
    found = server("FURUI.INFO", "s")
    found = dict(zip(found[::2], found[1::2]))
    assert (found[b"type"], found[b"members"], found[b"window"]) == (b"set", 2, b"43200000ms")
    assert (found[b"hash"], found[b"seed"]) == (b"xxh3", b"0x0000000000000007")
    assert found[b"bytes"] == server("MEMORY", "USAGE", "s", "SAMPLES", 0) or found[b"bytes"] > 256
    server("SIEVE.RESERVE", "f", "bloom", "0.01", 10)
    assert server("FURUI.INFO", "f") == server("SIEVE.INFO", "f")
    for key in ["none", "text"]:
        server("SET", "text", "a")
        with pytest.raises(redis.exceptions.ResponseError):
            server("FURUI.INFO", key)
