"""A set that several processes share, in a Valkey or Redis server, or cluster, with the module furui-valkey.

The members of a set are spread over many keys of the server, ``name:{000}`` to ``name:{3ff}``, by the first bits of
their hashes. So a cluster distributes the set over its nodes, and no single key gets large. The key ``name:shards`` has
the number of these keys. ``client`` is a ``redis.Redis`` or ``redis.RedisCluster`` of redis-py, or the class of
valkey-py that corresponds to it.

Errors of the network and of the server are raised as exceptions of the client's library, such as
``redis.ConnectionError``. An argument that does not fit the set or the server raises ``furui.ConfigError``; reaching a
memory limit of the module raises ``furui.FullError``.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ._furui import _answers, _Shares
from ._furui import _window as _furui_window
from ._nodes import Command, Nodes
from .errors import ConfigError, DamageError, Error, FullError

__all__ = ["Seen", "dump", "load"]

#: The maximum length of a piece of a file that is sent to the server, in bytes, as in the module furui-valkey.
_PIECE = 16 << 20
#: The names of files of a store that are not sent, because they say nothing about the contents of the set.
_NOT_SENT = ("LOCK", "TIERS")


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
        if isinstance(shards, bool) or not 1 <= shards <= 1 << 16:
            raise ConfigError("shards is a number from 1 to 65536")
        if not name or "{" in name or "}" in name:
            raise ConfigError(f"the name {name!r} of the set is empty or has a brace")
        self.client = client
        self.name = name
        self.shards = shards
        self.patience = patience
        self._nodes = Nodes(client)
        self._width = max(len(f"{shards - 1:x}"), 1)
        self._counts = {"keys": 0, "new": 0, "repeats": 0, "uncertain": 0}
        #: The keys that calls which failed have recorded, or may have recorded: they are new when they are added again.
        self._owed: set[bytes] = set()
        self._window = self._agree(_window(window, shards))
        self._reserve()

    def _agree(self, window: str | None) -> str | None:
        """Records the number of shards and the window, or compares them with those that another user has recorded."""
        key = f"{self.name}:shards"
        mine = f"{self.shards} {window}" if window else str(self.shards)
        self._run([Command("SET", key, mine, "NX")], patience=0)
        text = str(self._run([Command("GET", key)], patience=0)[0] or b"", "ascii", "replace")
        found = re.fullmatch(r"(\d+)(?: (\d+(?:ms)?))?", text)
        if not found:
            raise ConfigError(f"the key {key} is not that of a set: choose another name")
        if int(found[1]) != self.shards:
            raise ConfigError(
                f"the set {self.name} has {found[1]} shards, not {self.shards}: all its users must give the same number"
            )
        if window not in (None, found[2]):
            theirs = f"a window of {found[2]}" if found[2] else "no window"
            raise ConfigError(f"the set {self.name} has {theirs}, not one of {window}")
        return found[2]

    def _reserve(self) -> None:
        """Creates the server's keys of a set with a window. Keys that exist are not changed."""
        if self._window:
            span = f"{self._window[:-2]}ms" if self._window.endswith("ms") else -(-int(self._window) // self.shards)
            commands = [Command("SEEN.RESERVE", key, "WINDOW", span) for key in self._keys()]
            self._nodes.run(commands, self.patience)
            for command in commands:
                if command.refusal and "exists already" not in str(command.refusal):
                    raise self._error(command)

    def _key(self, shard: int) -> str:
        return f"{self.name}:{{{shard:0{self._width}x}}}"

    def _keys(self) -> Iterator[str]:
        return map(self._key, range(self.shards))

    def _run(self, commands: list[Command], *, patience: float | None = None) -> list[Any]:
        return _run(self._nodes, commands, self.patience if patience is None else patience)

    def _error(self, command: Command) -> Exception:
        return _error(self._nodes, command)

    def _ask(self, name: str, batch: Any) -> bytearray:
        """Sends a command for all keys of a batch, and returns an answer of 1 or 0 for each, in order.

        A large batch is sent in parts, which bounds the memory for keys that are being sent.
        """
        batch = _Shares(batch)
        answers, end = bytearray(len(batch)), 0
        while end < len(batch):
            end, shares = batch.part(end, self.shards)
            found = self._run([Command(name, self._key(share), *keys) for share, _, keys in shares])
            for (_, indices, _), bits in zip(shares, found, strict=True):
                for index, bit in zip(indices, bits, strict=True):
                    answers[index] = bit
        return answers

    def _add(self, batch: Any) -> bytearray:
        keys = _Shares(batch)
        answers, end = bytearray(len(keys)), 0
        # What the call has recorded, as long as it is not sure that the caller gets to know it.
        recorded: list[bytes] = []
        try:
            while end < len(keys):
                end, shares = keys.part(end, self.shards)
                commands = [Command("SEEN.ADD", self._key(share), *members) for share, _, members in shares]
                try:
                    self._nodes.run(commands, self.patience)
                finally:
                    for command, (_, indices, members) in zip(commands, shares, strict=True):
                        for index, member, is_new in zip(indices, members, self._new(command, members), strict=True):
                            if is_new:
                                answers[index] = 1
                                recorded.append(member)
                refused = [command for command in commands if command.refusal]
                if refused:
                    raise self._error(refused[0])
        except BaseException:
            self._owed.update(recorded)
            raise
        self._counts["keys"] += len(keys)
        self._counts["new"] += sum(answers)
        self._counts["repeats"] += len(keys) - sum(answers)
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
        return sum(self._run([Command("SEEN.CARD", key) for key in self._keys()]))

    def clear(self) -> None:
        """Remove all keys from the set, which keeps its number of shards and its window.

        No process should add keys meanwhile.
        """
        self._run([Command("UNLINK", key) for key in self._keys()])
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


def load(client: Any, key: str, path: str | os.PathLike[str], *, patience: float = 30.0) -> None:
    """Create a value of the server from files: ``path`` is the file of a filter, or the directory of a store.

    The value can be used only when all files have arrived. If the call fails, the parts that have arrived are removed.
    """
    path, nodes = Path(path), Nodes(client)
    files = sorted(file for file in path.iterdir() if file.name not in _NOT_SENT) if path.is_dir() else [path]
    if any(file.name == "JOURNAL" for file in files):
        raise ConfigError(f"{path}: the store has a journal: run `furui compact` on it first")
    if not files:
        raise ConfigError(f"{path}: there are no files in it")
    total = sum(max(-(-file.stat().st_size // _PIECE), 1) for file in files)
    here = 0
    try:
        for name, piece in _pieces(files):
            command = Command("FURUI.LOAD", key, f"{here + 1}/{total}", name, piece)
            nodes.run([command], patience)
            if command.refusal and not (command.is_uncertain and _has_arrived(command.refusal, here + 1, total)):
                raise _error(nodes, command)
            here += 1
        if here != total:
            raise Error(f"{path}: the files have changed meanwhile")
    except BaseException:
        if 0 < here < total:
            try:
                nodes.run([Command("UNLINK", key)], 0)
            except Exception:
                # The server is gone. The reason why the call fails says more than this.
                pass
        raise


def _pieces(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        with file.open("rb") as data:
            piece = data.read(_PIECE)
            yield file.name, piece
            while len(piece) == _PIECE and (piece := data.read(_PIECE)):
                yield file.name, piece


def _has_arrived(refusal: Exception, place: int, total: int) -> bool:
    """True if a piece of a file that was sent twice is refused because it had arrived the first time."""
    return f"{place} of {total} pieces have arrived" in str(refusal) or (
        place == total and "exists already" in str(refusal)
    )


def dump(client: Any, key: str, path: str | os.PathLike[str], *, patience: float = 30.0) -> None:
    """Write a value of the server to files: to a new directory ``path`` for a set, or to a file for a filter.

    ``path`` appears only when it is complete, with the state of the value at one moment. The other programs and
    libraries of furui can read it.
    """
    path, nodes = Path(path), Nodes(client)
    if path.exists():
        raise FileExistsError(f"{path} exists already")
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        for attempt in count(1):
            part = Path(folder, str(attempt))
            part.mkdir()
            try:
                _fetch(nodes, key, part, patience)
                break
            except nodes.errors.ResponseError as error:
                # The server has started again, or too many others dump at the same time.
                if attempt == 10 or "begin again" not in str(error):
                    raise
                shutil.rmtree(part)
        files = list(part.iterdir())
        is_store = any(file.name == "MANIFEST" for file in files)
        (part if is_store or len(files) != 1 else files[0]).rename(path)


def _fetch(nodes: Nodes, key: str, folder: Path, patience: float) -> None:
    place, total = 0, 1
    # All pieces are of the moment at which the first one was fetched.
    dump: list[int] = []
    while place < total:
        place += 1
        _, total, name, piece, *dump = _run(nodes, [Command("FURUI.DUMP", key, place, *dump)], patience)[0]
        file = name.decode("utf-8", "replace")
        if Path(file).name != file or file.startswith("."):
            raise DamageError(f"the server has sent a file name that is not plain: {file!r}", file)
        with Path(folder, file).open("ab") as out:
            out.write(piece)
            out.flush()
            os.fsync(out.fileno())


def _window(window: int | str | None, shards: int) -> str | None:
    """The text that records a window: a number of keys, or of milliseconds with "ms"; None without a window."""
    if window is None:
        return None
    recorded = _furui_window(window)
    if isinstance(recorded, int) and recorded < 16 * shards:
        raise ConfigError(f"a window of {window} keys is too small for {shards} shards: give 16 for each at least")
    return str(recorded)


def _run(nodes: Nodes, commands: list[Command], patience: float) -> list[Any]:
    """Runs commands, and returns their answers in order.

    Raises: the error of the first command that the server has refused.
    """
    nodes.run(commands, patience)
    for command in commands:
        if command.refusal:
            raise _error(nodes, command)
    return [command.answer for command in commands]


def _error(nodes: Nodes, command: Command) -> Exception:
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
