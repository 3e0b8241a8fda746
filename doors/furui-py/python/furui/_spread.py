"""A name that is spread over many keys of a server, and the commands for these keys."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any

from ._furui import _Shares
from ._nodes import Command, Nodes
from .errors import ConfigError, FullError

__all__ = ["Spread", "answers_of", "error_of"]

#: The text of the key ``NAME:shards``: the number of keys, the seed, and what else the users of the name agree on.
_TEXT = re.compile(r"(\d{1,5}) (0x[0-9a-f]{1,16})(?: (.+))?")
#: With this, the record of keys begins that are being loaded.
_LOADING = "loading"


class Spread:
    """The keys ``name:{000}`` to ``name:{3ff}`` of a server, over which a set or a dictionary is spread.

    A member belongs to the key whose range has its XXH3 with the seed, with the halves exchanged. The key
    ``name:shards`` records the number of keys, the seed, and what else all users of the name must agree on. Its first
    user writes it.
    """

    def __init__(self, client: Any, name: str, shards: int, patience: float) -> None:
        if isinstance(shards, bool) or not 1 <= shards <= 1 << 16:
            raise ConfigError("shards is a number from 1 to 65536")
        if not name or "{" in name or "}" in name:
            raise ConfigError(f"the name {name!r} is empty or has a brace")
        self.name = name
        self.shards = shards
        self.seed = 0
        self.patience = patience
        self.nodes = Nodes(client)
        self.record = f"{name}:shards"
        self._width = max(len(f"{shards - 1:x}"), 1)

    @classmethod
    def of(cls, client: Any, name: str, patience: float) -> tuple[Spread, str | None] | None:
        """The keys as they are recorded, and what else is recorded; None if nothing is."""
        recorded = cls(client, name, 1, patience)._recorded()
        if recorded is None:
            return None
        shards, seed, what = recorded
        spread = cls(client, name, shards, patience)
        spread.seed = seed
        return spread, what

    def agree(self, what: str | None) -> str | None:
        """Records the number of keys, a random seed and ``what``, unless another user has; takes over the seed.

        Returns: the ``what`` that is recorded.
        """
        recorded = self._claim(self._text(secrets.randbits(64), what))
        if recorded is None:
            raise ConfigError(f"{self.name} was removed a moment ago: begin again")
        shards, self.seed, theirs = recorded
        if theirs and theirs.startswith(_LOADING):
            raise ConfigError(
                f"{self.name} is being loaded by another process. If that has ended, remove what it has left by "
                "furui.valkey.remove"
            )
        if shards != self.shards:
            raise ConfigError(
                f"{self.name} has {shards} shards, not {self.shards}: all its users must give the same number"
            )
        return theirs

    def begin_loading(self, seed: int) -> None:
        """Records that the keys are being loaded, so that nobody uses them. Refuses a name that exists."""
        self.seed = seed
        mine = f"{_LOADING} {secrets.token_hex(8)}"
        recorded = self._claim(self._text(seed, mine))
        if recorded is None or recorded[2] != mine:
            raise ConfigError(f"{self.name} exists already: choose another name, or remove it by furui.valkey.remove")

    def end_loading(self) -> None:
        self.run([Command("SET", self.record, self._text(self.seed, None))])

    def remove(self) -> None:
        """Deletes all keys, and then their record."""
        self.run([Command("UNLINK", key) for key in self.keys()])
        self.run([Command("UNLINK", self.record)])

    def _claim(self, text: str) -> tuple[int, int, str | None] | None:
        """Records a text unless there is one. Returns what is recorded."""
        if self.run([Command("EXISTS", self.name)], patience=0)[0]:
            raise ConfigError(
                f"the name {self.name} is taken by a single key, whose members would not be found: choose another name"
            )
        self.run([Command("SET", self.record, text, "NX")], patience=0)
        return self._recorded()

    def _text(self, seed: int, what: str | None) -> str:
        return f"{self.shards} {seed:#018x}{f' {what}' if what else ''}"

    def _recorded(self) -> tuple[int, int, str | None] | None:
        """The number of keys, the seed, and what else is recorded; None if nothing is."""
        text = self.run([Command("GET", self.record)], patience=0)[0]
        if text is None:
            return None
        found = _TEXT.fullmatch(str(text, "ascii", "replace"))
        if not found:
            raise ConfigError(f"the key {self.record} is not that of a set or dictionary: choose another name")
        return int(found[1]), int(found[2], 16), found[3]

    def key(self, shard: int) -> str:
        return f"{self.name}:{{{shard:0{self._width}x}}}"

    def keys(self) -> Iterator[str]:
        return map(self.key, range(self.shards))

    def reserve(self, *words: Any) -> None:
        """Creates the keys of a set that are missing, with the seed. Keys that exist are not changed."""
        commands = [Command("SEEN.RESERVE", key, "SEED", str(self.seed), *words) for key in self.keys()]
        self.nodes.run(commands, self.patience)
        for command in commands:
            if command.refusal and "exists already" not in str(command.refusal):
                raise error_of(self.nodes, command)

    def parts(self, batch: Any) -> Iterator[list[tuple[int, list[int], list[bytes]]]]:
        """Splits the members of a batch into parts of a few MiB, which bounds the memory for what is being sent.

        Yields: for each key that has members of a part: its number, their indices in the batch, and their bytes.
        """
        members, end = _Shares(batch), 0
        while end < len(members):
            end, shares = members.part(end, self.shards, self.seed)
            yield shares

    def run(self, commands: list[Command], *, patience: float | None = None) -> list[Any]:
        return answers_of(self.nodes, commands, self.patience if patience is None else patience)


def answers_of(nodes: Nodes, commands: list[Command], patience: float) -> list[Any]:
    """Runs commands, and returns their answers in order.

    Raises: the error of the first command that the server has refused.
    """
    nodes.run(commands, patience)
    for command in commands:
        if command.refusal:
            raise error_of(nodes, command)
    return [command.answer for command in commands]


def error_of(nodes: Nodes, command: Command) -> Exception:
    """The exception that is raised for a command that the server has refused."""
    refusal = command.refusal
    assert refusal is not None
    text = str(refusal)
    error: Exception | None = None
    if text.startswith("unknown command"):
        error = ConfigError(f"the server has no {command.words[0]}: load the module furui-valkey into every node")
    elif "WRONGTYPE" in text or "wrong kind of value" in text:
        error = ConfigError(f"the key {command.key} has a value of another type: choose another name")
    elif "furui.max-key-memory" in text or "furui.max-memory" in text:
        error = FullError(f"{command.key}: {text}")
    elif isinstance(refusal, nodes.errors.AskError) or text.startswith(("MOVED ", "ASK ")):
        error = ConfigError("the server is a node of a cluster: give a client of the whole cluster")
    if error is None:
        return refusal
    error.__cause__ = refusal
    return error
