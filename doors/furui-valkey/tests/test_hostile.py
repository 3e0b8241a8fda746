"""No argument and no payload ends the server, or makes it believe what is damaged."""

import os
import random
from collections.abc import Callable

import pytest
import redis
from server import Server
from test_filters import KINDS, some

PAYLOADS = int(os.environ.get("FURUI_PAYLOADS", 100_000))
BATCH = 1_000


def payloads(server: Server) -> list[bytes]:
    """What DUMP says of one value of each kind."""
    server("FURUI.SEEN", "set", *some("m", 100))
    server("FURUI.SEEN.RESERVE", "window-set", "WINDOW", "160")
    server("FURUI.SEEN", "window-set", *some("m", 300))
    for kind in KINDS:
        server("FURUI.FILTER.RESERVE", kind, kind, "0.1", 50)
        server("FURUI.FILTER.ADD", kind, *some("m", 40))
    server("FURUI.DICT.SET", "dict", *[part for name in some("m", 50) for part in (name, f"value of {name}")])
    server("FURUI.DICT.NUMBER", "numbers", *some("m", 50))
    _, count, name, data = server("FURUI.DUMP", "set", 1)
    server("FURUI.LOAD", "half", f"1/{count + 1}", name, data)
    return [server("DUMP", key) for key in server("KEYS", "*")]


def mutated(payload: bytes, chance: random.Random) -> bytes:
    body = bytearray(payload[:-10])
    for _ in range(chance.choice([1, 1, 2, 8])):
        place = chance.randrange(1, len(body))
        match chance.randrange(6):
            case 0 | 1 | 2:
                body[place] ^= 1 << chance.randrange(8)
            case 3:
                body[place] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
            case 4:
                del body[place:]
                break
            case 5:
                body[place:place] = bytes(chance.randrange(256) for _ in range(chance.choice([1, 4, 8])))
        if len(body) < 2:
            break
    return bytes(body) + payload[-10:]


def test_mutated_payloads(servers: Callable[..., Server]) -> None:
    seed = int(os.environ.get("FURUI_SEED", 20261125))
    print(f"FURUI_SEED={seed}")
    chance = random.Random(seed)
    server = servers()
    whole = payloads(server)
    # The server's own checksum would refuse all of them before the module sees them.
    server("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    keys = server("KEYS", "*")
    digests = set(server("DEBUG", "DIGEST-VALUE", *keys))
    accepted, halves = 0, 0
    for _ in range(PAYLOADS // BATCH):
        pipeline = server.client.pipeline(transaction=False)
        for i in range(BATCH):
            pipeline.execute_command("RESTORE", f"x{i}", 0, mutated(chance.choice(whole), chance), "REPLACE")
        answers = pipeline.execute(raise_on_error=False)
        for i in (i for i, answer in enumerate(answers) if answer == b"OK"):
            # What has arrived by half has no checksum of its own before it is whole.
            is_half = server("TYPE", f"x{i}") == b"furui-arr"
            assert is_half or server("DEBUG", "DIGEST-VALUE", f"x{i}")[0] in digests, "damage was believed"
            accepted, halves = accepted + (not is_half), halves + is_half
            server("DEL", f"x{i}")
    print(f"{accepted} of {PAYLOADS} mutations had no meaning, and {halves} were in files that had arrived by half")
    assert server("PING")
    assert server("INFO", "furui")["furui_memory"] < 100 << 20


def test_large_and_strange_arguments(server: Server) -> None:
    numbers = ["nan", "inf", "-inf", "-1", "0", "-0", "1e308", "1e-308", "9223372036854775807", "9223372036854775808",
               "18446744073709551615", "18446744073709551616", "99999999999999999999999", "", " 1", "0x10", b"\xff\x00"]
    chance = random.Random(3)
    names = [name for name in server("COMMAND LIST") if name.startswith(b"furui.")]
    assert len(names) >= 16
    server("FURUI.SEEN", "set", "a")
    server("FURUI.FILTER.RESERVE", "filter", "bloom", "0.01", 10)
    server("FURUI.DICT.SET", "dict", "a", "b")
    server("FURUI.DICT.NUMBER", "numbers", "a")
    words = ["set", "filter", "dict", "numbers", "none", "LIMIT", "AFTER", "PREFIX", "BYTES", *KINDS, "WINDOW", "SEED", "0.01", "100", "1/1", "MANIFEST", "a" * 100_000]
    for _ in range(20_000):
        arguments = [chance.choice([*numbers, *words]) for _ in range(chance.randrange(7))]
        try:
            server(chance.choice(names), *arguments)
        except redis.exceptions.ResponseError as error:
            assert "internal error" not in str(error), arguments
    assert server("PING")


def test_a_million_members_at_once(server: Server) -> None:
    members = some("m", 1_000_000)
    assert sum(server("FURUI.SEEN", "s", *members)) == 1_000_000
    assert sum(server("FURUI.HAS", "s", *members)) == 1_000_000
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 20)
    with pytest.raises(redis.exceptions.ResponseError, match="max-key-memory"):
        server("FURUI.SEEN", "t", *members)
    assert server("EXISTS", "t") == 0 or server("FURUI.CARD", "t") == 0


def test_the_access_list_denies(server: Server) -> None:
    server("ACL", "SETUSER", "reader", "on", ">secret", "~seen:*", "+furui.has", "+furui.dump", "+furui.card")
    server("FURUI.SEEN", "seen:a", "m")
    reader = redis.Redis(port=server.port, username="reader", password="secret")
    assert reader.execute_command("FURUI.HAS", "seen:a", "m") == [1]
    assert reader.execute_command("FURUI.CARD", "seen:a") == 1
    for command in [["FURUI.SEEN", "seen:a", "m"], ["FURUI.FORGET", "seen:a", "m"], ["FURUI.HAS", "other", "m"],
                    ["FURUI.LOAD", "seen:b", "1/1", "MANIFEST", "x"], ["FURUI.DUMP", "other", 1],
                    ["FURUI.FILTER.RESERVE", "seen:f", "bloom", "0.01", "10"], ["FURUI.FILTER.MERGE", "seen:f", "seen:f"]]:
        with pytest.raises(redis.exceptions.NoPermissionError):
            reader.execute_command(*command)


def test_the_memory_of_the_server_is_kept(server: Server) -> None:
    server("CONFIG", "SET", "maxmemory", 20 << 20, "maxmemory-policy", "noeviction")
    with pytest.raises(redis.exceptions.ResponseError, match="maxmemory"):
        for i in range(1_000):
            server("FURUI.SEEN", "s", *some(f"{i}.", 10_000))
    with pytest.raises(redis.exceptions.ResponseError, match="maxmemory"):
        server("FURUI.FILTER.RESERVE", "f", "bloom", "0.01", "1000")
    assert server("FURUI.HAS", "s", "0.1") == [1]
    server("DEL", "s")
    assert server("FURUI.SEEN", "s", "a") == [1]
