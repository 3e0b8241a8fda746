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
    server("SEEN.ADD", "set", *some("m", 100))
    server("SEEN.RESERVE", "window-set", "WINDOW", "160")
    server("SEEN.ADD", "window-set", *some("m", 300))
    for kind in KINDS:
        server("SIEVE.RESERVE", kind, kind, "0.1", 50)
        server("SIEVE.ADD", kind, *some("m", 40))
    server("DICT.SET", "dict", *[part for name in some("m", 50) for part in (name, f"value of {name}")])
    server("DICT.NUMBER", "numbers", *some("m", 50))
    _, count, name, data, _ = server("FURUI.DUMP", "set", 1)
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
    names = [name for name in server("COMMAND LIST") if name.startswith((b"seen.", b"sieve.", b"dict.", b"furui."))]
    assert len(names) >= 16
    server("SEEN.ADD", "set", "a")
    server("SIEVE.RESERVE", "filter", "bloom", "0.01", 10)
    server("DICT.SET", "dict", "a", "b")
    server("DICT.NUMBER", "numbers", "a")
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
    assert sum(server("SEEN.ADD", "s", *members)) == 1_000_000
    assert sum(server("SEEN.HAS", "s", *members)) == 1_000_000
    server("CONFIG", "SET", "furui.max-key-memory", 1 << 20)
    with pytest.raises(redis.exceptions.ResponseError, match="max-key-memory"):
        server("SEEN.ADD", "t", *members)
    assert server("EXISTS", "t") == 0 or server("SEEN.CARD", "t") == 0


def test_the_access_list_denies(server: Server) -> None:
    server("ACL", "SETUSER", "reader", "on", ">secret", "~seen:*", "+seen.has", "+furui.dump", "+seen.card")
    server("SEEN.ADD", "seen:a", "m")
    reader = redis.Redis(port=server.port, username="reader", password="secret")
    assert reader.execute_command("SEEN.HAS", "seen:a", "m") == [1]
    assert reader.execute_command("SEEN.CARD", "seen:a") == 1
    for command in [["SEEN.ADD", "seen:a", "m"], ["SEEN.FORGET", "seen:a", "m"], ["SEEN.HAS", "other", "m"],
                    ["FURUI.LOAD", "seen:b", "1/1", "MANIFEST", "x"], ["FURUI.DUMP", "other", 1],
                    ["SIEVE.RESERVE", "seen:f", "bloom", "0.01", "10"], ["SIEVE.MERGE", "seen:f", "seen:f"]]:
        with pytest.raises(redis.exceptions.NoPermissionError):
            reader.execute_command(*command)


def test_the_memory_of_the_server_is_kept(server: Server) -> None:
    server("CONFIG", "SET", "maxmemory", 20 << 20, "maxmemory-policy", "noeviction")
    with pytest.raises(redis.exceptions.ResponseError, match="maxmemory"):
        for i in range(1_000):
            server("SEEN.ADD", "s", *some(f"{i}.", 10_000))
    with pytest.raises(redis.exceptions.ResponseError, match="maxmemory"):
        server("SIEVE.RESERVE", "f", "bloom", "0.01", "1000")
    assert server("SEEN.HAS", "s", "0.1") == [1]
    server("DEL", "s")
    assert server("SEEN.ADD", "s", "a") == [1]
