"""Sets and dictionaries that several processes share, in a server or cluster of Valkey or Redis with furui-valkey.

The members of a set are spread over many keys of the server, ``name:{000}`` to ``name:{3ff}``, by the middle bits of
their hashes. So a cluster distributes the set over its nodes, and no single key gets large. The key ``name:shards`` has
the number of these keys and the seed of the hash. The same holds for the fields of a dictionary. ``client`` is a
``redis.Redis`` or ``redis.RedisCluster`` of redis-py, or the class of valkey-py that corresponds to it.

Errors of the network and of the server are raised as exceptions of the client's library, such as
``redis.ConnectionError``. An argument that does not fit the set or the server raises ``furui.ConfigError``; reaching a
memory limit of the module raises ``furui.FullError``.
"""

from __future__ import annotations

import re
from typing import Any

from ._furui import _answers
from ._furui import _window as _furui_window
from ._nodes import Command
from ._spread import Spread, error_of
from ._valkey_dict import Dict
from ._valkey_files import dump, load, remove
from .errors import ConfigError

__all__ = ["Dict", "Seen", "dump", "load", "remove"]


class Seen:
    """An exact set on a server, which several processes share: for each key, exactly one caller is told that it is new.

    name: the name of the set; every process that names it shares it.
    shards: the number of keys of the server over which the set is spread. The first user of a set chooses the number;
        all others must give the same one.
    window: the part of the stream that the set remembers: a time, as in "12h", or about this many last keys. None: the
        window that the first user has chosen, or everything if that user gave None, too.
    patience: the number of seconds for which commands are sent again after an error that may pass, such as one of a
        failover.

    It never happens that all callers are told that a new key was seen before. If the connection breaks while keys are
    added, it is unknown which of them the server has recorded already, so all of them are reported as new. If a call
    fails, some of its keys may be recorded; this object remembers them, and reports them as new when they are added
    again. In a failover, the server may lose the last keys, which its replica did not have yet: they are new again.
    """

    def __init__(
        self,
        client: Any,
        name: str,
        *,
        shards: int = 1024,
        window: int | str | None = None,
        patience: float = 30.0,
    ) -> None:
        self.client = client
        self.name = name
        self.shards = shards
        self._spread = Spread(client, name, shards, patience)
        self._counts = {"keys": 0, "new": 0, "repeats": 0, "uncertain": 0}
        #: The keys that calls which failed have recorded, or may have recorded: they are new when they are added again.
        self._owed: set[bytes] = set()
        self._window = self._agree(_window(window, shards))
        self._reserve()

    def _agree(self, window: str | None) -> str | None:
        """Agrees with the other users of the set. Returns its window."""
        theirs = self._spread.agree(window)
        if theirs is not None and not re.fullmatch(r"\d+(?:ms)?", theirs):
            raise ConfigError(f"{self.name} is no set, but is recorded as {theirs!r}: choose another name")
        if window not in (None, theirs):
            has = f"a window of {theirs}" if theirs else "no window"
            raise ConfigError(f"the set {self.name} has {has}, not one of {window}")
        return theirs

    def _reserve(self) -> None:
        """Creates the server's keys that are missing: all of them hash with the seed of the set."""
        window = self._window
        if window is None:
            self._spread.reserve()
        else:
            share = window if window.endswith("ms") else -(-int(window) // self.shards)
            self._spread.reserve("WINDOW", share)

    @property
    def patience(self) -> float:
        return self._spread.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._spread.patience = seconds

    def _ask(self, name: str, batch: Any) -> bytearray:
        """Sends a command for all keys of a batch, and returns an answer of 1 or 0 for each, in order."""
        answers = bytearray()
        for part in self._spread.parts(batch):
            answers.extend(bytes(sum(len(keys) for _, _, keys in part)))
            found = self._spread.run([Command(name, self._spread.key(shard), *members) for shard, _, members in part])
            for (_, indices, _), bits in zip(part, found, strict=True):
                for index, bit in zip(indices, bits, strict=True):
                    answers[index] = bit
        return answers

    def _add(self, batch: Any) -> bytearray:
        answers = bytearray()
        # What the call has recorded, as long as it is not sure that the caller gets to know it.
        recorded: list[bytes] = []
        try:
            for part in self._spread.parts(batch):
                answers.extend(bytes(sum(len(keys) for _, _, keys in part)))
                commands = [Command("SEEN.ADD", self._spread.key(shard), *members) for shard, _, members in part]
                try:
                    self._spread.nodes.run(commands, self.patience)
                finally:
                    for command, (_, indices, members) in zip(commands, part, strict=True):
                        for index, member, is_new in zip(indices, members, self._new(command, members), strict=True):
                            if is_new:
                                answers[index] = 1
                                recorded.append(member)
                refused = [command for command in commands if command.refusal]
                if refused:
                    raise error_of(self._spread.nodes, refused[0])
        except BaseException:
            self._owed.update(recorded)
            raise
        self._counts["keys"] += len(answers)
        self._counts["new"] += sum(answers)
        self._counts["repeats"] += len(answers) - sum(answers)
        return answers

    def _new(self, command: Command, members: list[bytes]) -> list[bool]:
        """For each member in a command, returns True if it is new for the caller, or may be."""
        if command.is_uncertain:
            self._counts["uncertain"] += len(members)
            # Of those that are equal the first one is new.
            first = dict(zip(reversed(members), reversed(range(len(members)))))
            answers = [first[member] == index for index, member in enumerate(members)]
        else:
            answers = [bit == 1 for bit in command.answer or [0] * len(members)]
        if self._owed:
            for index, member in enumerate(members):
                if member in self._owed:
                    self._owed.discard(member)
                    answers[index] = True
        return answers

    def add(self, key: Any) -> bool:
        """Record a key. Return True if it is new."""
        return self._add([key])[0] == 1

    def add_many(self, batch: Any) -> Any:
        """Record the keys of a batch, in a round trip to each node for every 16,384 keys.

        Return for each, in order, True if it is new: as a list, or as an array of the library of the batch.
        """
        return _answers(batch, self._add(batch))

    def has(self, key: Any) -> bool:
        """Return True if a key was recorded."""
        return self._ask("SEEN.HAS", [key])[0] == 1

    def has_many(self, batch: Any) -> Any:
        """Return for each key of a batch, in order, True if it was recorded. The answer is like that of add_many()."""
        return _answers(batch, self._ask("SEEN.HAS", batch))

    def discard(self, key: Any) -> bool:
        """Remove a key from the set. Return True if the set had it."""
        return self.discard_many([key]) == 1

    def discard_many(self, batch: Any) -> int:
        """Remove the keys of a batch from the set. Return the number of those that the set had."""
        return sum(self._ask("SEEN.FORGET", batch))

    def __contains__(self, key: object) -> bool:
        return self.has(key)

    def __len__(self) -> int:
        return sum(self._spread.run([Command("SEEN.CARD", key) for key in self._spread.keys()]))

    def clear(self) -> None:
        """Remove all keys from the set, which keeps its number of shards and its window.

        No process should add keys meanwhile.
        """
        self._spread.run([Command("UNLINK", key) for key in self._spread.keys()])
        self._owed.clear()
        self._reserve()

    def stats(self) -> dict[str, int]:
        """Return the numbers of keys that this object has added: keys, all of them; new, new ones; repeats, the others.

        uncertain: the number of keys that were reported as new, or will be, because a connection broke before their
        answer came.
        """
        return dict(self._counts)

    def __repr__(self) -> str:
        return f"<furui.valkey.Seen {self.name!r}, {self.shards} shards>"


def _window(window: int | str | None, shards: int) -> str | None:
    """The text that records a window: a number of keys, or of milliseconds with "ms"; None without a window."""
    if window is None:
        return None
    recorded = _furui_window(window)
    if isinstance(recorded, int) and recorded < 16 * shards:
        raise ConfigError(f"a window of {window} keys is too small for {shards} shards: give 16 for each at least")
    return str(recorded)
