"""Random commands answer as a naive model does, and the state survives whatever servers do with it."""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from server import Server

OPERATIONS = int(os.environ.get("FURUI_OPERATIONS", 50_000))
BATCH = 500
NAMES = [f"item:{i}" for i in range(3_000)]
#: The number of members in a window.
WINDOW = 1_600


class Sets:
    """Exact sets, of which one forgets all but the last members."""

    def __init__(self) -> None:
        self.members: dict[str, set[str]] = {"s0": set(), "s1": set(), "s2": set()}
        #: The slice in which a member came last.
        self.last: dict[str, int] = {}
        self.now = 0

    def reserve(self, server: Server) -> None:
        server("SEEN.RESERVE", "w", "WINDOW", WINDOW)

    def next(self, chance: random.Random) -> tuple[list[Any], Any]:
        items = [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 1, 3, 20]))]
        key = chance.choice(list(self.members))
        members = self.members[key]
        match chance.randrange(8):
            case 0 | 1 | 2:
                answers = []
                for item in items:
                    answers.append(int(item not in members))
                    members.add(item)
                return ["SEEN.ADD", key, *items], answers
            case 3 | 4:
                return ["SEEN.HAS", key, *items], [int(item in members) for item in items]
            case 5:
                answers = []
                for item in items:
                    answers.append(int(item in members))
                    members.discard(item)
                return ["SEEN.FORGET", key, *items], answers
            case 6:
                return ["SEEN.CARD", key], len(members)
            case _:
                answers = []
                for item in items:
                    seen, now = self.last.get(item), self.now * 16 // WINDOW
                    answers.append(int(seen is None or seen < now - 16))
                    self.last[item] = now
                    self.now += 1
                return ["SEEN.ADD", "w", *items], answers


class Filters:
    """Filters of all kinds: what they hold they never deny, and they rarely claim anything else."""

    KINDS = ("bloom", "scalable", "blocked", "quotient", "counting")

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {kind: {} for kind in self.KINDS}
        self.wrong = 0
        self.asked = 0

    def reserve(self, server: Server) -> None:
        for kind in self.KINDS:
            server("SIEVE.RESERVE", kind, kind, "0.0001", 40_000)
        server("SIEVE.RESERVE", "stable-light", "stable-light", "0.001", 1_000)
        server("SIEVE.RESERVE", "window", "window", "0.001", 1_000)

    def next(self, chance: random.Random) -> tuple[list[Any], Callable[[Any], None]]:
        kind = chance.choice(self.KINDS)
        items = [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 5]))]
        counts = self.counts[kind]
        match chance.randrange(8):
            case 0 | 1:
                if kind in ("quotient", "counting"):
                    items = [item for item in items if counts.get(item, 0) < 7] or ["spare"]
                    if items == ["spare"]:
                        return ["SIEVE.HAS", kind, "spare"], lambda answers: None
                for item in items:
                    counts[item] = counts.get(item, 0) + 1
                return ["SIEVE.ADD", kind, *items], lambda answers: None
            case 2 | 3 | 4:
                held = [counts.get(item, 0) > 0 for item in items]

                def check(answers: Any) -> None:
                    for answer, is_held in zip(answers, held):
                        assert answer == 1 or not is_held
                        self.asked += 1
                        self.wrong += answer == 1 and not is_held

                return ["SIEVE.HAS", kind, *items], check
            case 5:
                kind = chance.choice(["quotient", "counting"])
                counts = self.counts[kind]
                there = [item for item in dict.fromkeys(items) if counts.get(item, 0) > 0]
                if not there:
                    return ["SIEVE.INFO", kind], lambda answers: None
                for item in there:
                    counts[item] -= 1

                def removed(answers: Any) -> None:
                    assert answers == [1] * len(there)

                return ["SIEVE.DEL", kind, *there], removed
            case 6:
                kind = chance.choice(["quotient", "counting"])
                least = [self.counts[kind].get(item, 0) for item in items]

                def counted(answers: Any) -> None:
                    assert all(answer >= count for answer, count in zip(answers, least))

                return ["SIEVE.COUNT", kind, *items], counted
            case _:
                kind = chance.choice(["stable-light", "window"])

                def repeated(answers: Any) -> None:
                    assert answers[-1] == 0, "it was added a moment ago"

                return ["SIEVE.ADD", kind, *items, items[0]], repeated


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline


def rewritten(server: Server) -> None:
    server("BGREWRITEAOF")
    wait_for(lambda: not server("INFO", "persistence")["aof_rewrite_in_progress"])
    assert server("INFO", "persistence")["aof_last_bgrewrite_status"] == "ok"


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_random_commands(servers: Callable[..., Server], preamble: str) -> None:
    seed = int(os.environ.get("FURUI_SEED", 20261125))
    print(f"FURUI_SEED={seed}")
    chance = random.Random(seed)
    server = servers("--appendonly", "yes", "--aof-use-rdb-preamble", preamble, "--appendfsync", "no")
    replica = servers("--replicaof", f"127.0.0.1 {server.port}")
    models = [Sets(), Filters()]
    for model in models:
        model.reserve(server)
    for batch in range(OPERATIONS // BATCH):
        pipeline, checks = server.client.pipeline(transaction=False), []
        for _ in range(BATCH):
            command, expected = chance.choice(models).next(chance)
            pipeline.execute_command(*command)
            checks.append((command, expected))
        for answer, (command, expected) in zip(pipeline.execute(), checks):
            if callable(expected):
                expected(answer)
            else:
                assert answer == expected, command
        if batch % 40 == 39:
            before = server.digest()
            match (batch // 40) % 5:
                case 0:
                    server("DEBUG", "RELOAD")
                case 1:
                    server.restart()
                    replica("REPLICAOF", "127.0.0.1", server.port)
                case 2:
                    rewritten(server)
                    server.restart()
                    replica("REPLICAOF", "127.0.0.1", server.port)
                case 3:
                    for key in server("KEYS", "*"):
                        server("RESTORE", key, 0, server("DUMP", key), "REPLACE")
                case _:
                    wait_for(lambda: replica.digest() == before)
                    replica("REPLICAOF", "NO", "ONE")
                    server("REPLICAOF", "127.0.0.1", replica.port)
                    server, replica = replica, server
                    server("CONFIG", "SET", "appendonly", "yes")
            assert server.digest() == before
    wait_for(lambda: replica.digest() == server.digest())
    filters = models[1]
    assert isinstance(filters, Filters)
    assert filters.wrong <= 0.001 * filters.asked + 10, f"{filters.wrong} of {filters.asked}"
