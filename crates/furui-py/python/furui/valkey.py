"""A set that several processes share, in a Valkey or Redis server, or cluster, with the module furui-valkey.

The set is in many keys, ``name:{000}`` to ``name:{3ff}``, by the first bits of a key's hash: so a cluster spreads it over
its nodes, and no single key gets large. ``client`` is a ``redis.Redis`` or ``redis.RedisCluster`` of redis-py, or its
twin of valkey-py.
"""

from __future__ import annotations

from typing import Any

from ._furui import _shares
from .errors import ConfigError

__all__ = ["Seen"]


class Seen:
    """An exact set that remembers what it has seen, on a server: each key is new for one caller.

    name: the name of the set; every process that names it shares it.
    shards: the number of keys among which the set is spread. All users of a set must give the same number.
    window: remember only this long, as in "12h", or about this many last keys. None: everything.

    A failover of the server may forget the keys that its replica did not have yet: they are new again. Nothing that is
    new is ever called seen by it.
    """

    def __init__(self, client: Any, name: str, *, shards: int = 1024, window: int | str | None = None) -> None:
        if not 1 <= shards <= 1 << 16:
            raise ConfigError("shards is a number from 1 to 65536")
        self.client = client
        self.name = name
        self.shards = shards
        self.width = max(len(f"{shards - 1:x}"), 1)
        if window is not None:
            self._reserve(window)

    def _reserve(self, window: int | str) -> None:
        span = str(-(-window // self.shards)) if isinstance(window, int) else window
        pipeline = self.client.pipeline(transaction=False)
        for shard in range(self.shards):
            pipeline.execute_command("FURUI.SEEN.RESERVE", self._key(shard), "WINDOW", span)
        for answer in pipeline.execute(raise_on_error=False):
            # Another process has made the set already.
            if isinstance(answer, Exception) and "exists already" not in str(answer):
                raise answer

    def _key(self, shard: int) -> str:
        return f"{self.name}:{{{shard:0{self.width}x}}}"

    def _ask(self, command: str, batch: Any) -> list[bool]:
        keys, places = _shares(batch, self.shards)
        shares: dict[int, list[int]] = {}
        for index, place in enumerate(places):
            shares.setdefault(place, []).append(index)
        pipeline = self.client.pipeline(transaction=False)
        for place, indices in shares.items():
            pipeline.execute_command(command, self._key(place), *[keys[index] for index in indices])
        answers = [False] * len(keys)
        for indices, found in zip(shares.values(), pipeline.execute()):
            for index, answer in zip(indices, found):
                answers[index] = answer == 1
        return answers

    def add(self, key: Any) -> bool:
        """Record a key. Return True if it is new."""
        return self._ask("FURUI.SEEN", [key])[0]

    def add_many(self, batch: Any) -> list[bool]:
        """Record the keys of a batch, in one round trip to each node. Return for each, in order, whether it is new."""
        return self._ask("FURUI.SEEN", batch)

    def has_many(self, batch: Any) -> list[bool]:
        """Return for each key of a batch, in order, whether it was recorded."""
        return self._ask("FURUI.HAS", batch)

    def discard(self, key: Any) -> bool:
        """Remove a key. Return True if it was there."""
        return self._ask("FURUI.FORGET", [key])[0]

    def discard_many(self, batch: Any) -> int:
        """Remove the keys of a batch. Return how many were there."""
        return sum(self._ask("FURUI.FORGET", batch))

    def __contains__(self, key: object) -> bool:
        return self._ask("FURUI.HAS", [key])[0]

    def __len__(self) -> int:
        pipeline = self.client.pipeline(transaction=False)
        for shard in range(self.shards):
            pipeline.execute_command("FURUI.CARD", self._key(shard))
        return int(sum(pipeline.execute()))

    def clear(self) -> None:
        """Remove the whole set."""
        pipeline = self.client.pipeline(transaction=False)
        for shard in range(self.shards):
            pipeline.execute_command("UNLINK", self._key(shard))
        pipeline.execute()
