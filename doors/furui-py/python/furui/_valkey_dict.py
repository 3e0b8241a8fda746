"""A dictionary that several processes share, spread over many keys of a server."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, Literal, TypeAlias

from ._nodes import Command
from ._spread import Spread
from .errors import ConfigError

__all__ = ["Dict"]

_Bytes: TypeAlias = str | bytes | bytearray | memoryview

#: The maximum number of fields, and of bytes of their values, that are sent to the server at once, unless a single
#: value is larger.
_FIELDS, _SENT = 1 << 14, 4 << 20
#: The memory for entries that were fetched and not returned yet, in bytes, of which each takes some for its objects.
_FETCHED, _OBJECTS = 64 << 20, 150
#: The number of entries that are fetched from each key at first, and at most.
_FIRST, _MOST = 4, 1000


class Dict:
    """A dictionary on a server, which several processes share, with its fields in the order of their bytes.

    name: the name of the dictionary; every process that names it shares it.
    kind: "bytes": each field has a value of bytes, which put() sets. "numbers": number() gives each field a number.
    shards: the number of keys of the server over which the dictionary is spread. The first user of a dictionary chooses
        the number; all others must give the same one.
    text: fields come back as str; a byte that is not UTF-8 as a surrogate, as os.fsdecode does it. False: as bytes.
    patience: the number of seconds for which commands are sent again after an error that may pass, such as one of a
        failover.

    Each field belongs to one key of the server, which its hash determines, so a single call about one field is one
    atomic step. A call about many is not: another process may see a part of it.
    """

    def __init__(
        self,
        client: Any,
        name: str,
        kind: Literal["bytes", "numbers"] = "bytes",
        *,
        shards: int = 1024,
        text: bool = True,
        patience: float = 30.0,
    ) -> None:
        if kind not in ("bytes", "numbers"):
            raise ConfigError(f'kind must be "bytes" or "numbers", not {kind!r}')
        self.client = client
        self.name = name
        self.kind = kind
        self.shards = shards
        self.text = text
        self._spread = Spread(client, name, shards, patience)
        recorded = self._spread.agree(f"dict {kind}")
        if recorded != f"dict {kind}":
            raise ConfigError(f"{name} is no dictionary of {kind}, but is recorded as {recorded or 'a set'}")

    def get(self, field: _Bytes, default: Any = None) -> Any:
        """Return the value or the number of a field, or ``default`` if there is no such field."""
        value = self.get_many([field])[0]
        return default if value is None else value

    def get_many(self, fields: Iterable[_Bytes]) -> list[Any]:
        """Return the value or the number of each field, in order, and None for a field that is not there.

        16,384 fields take one round trip to each node.
        """
        return self._ask("DICT.MGET", fields)

    def put(self, field: _Bytes, value: _Bytes) -> None:
        """Set the value of a field."""
        self.put_many([(field, value)])

    def put_many(self, entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set the values of fields, in a round trip to each node for every 16,384 fields or 4 MiB.

        Of a field that comes twice, the last value stays. If the call fails, some of the values may be set.
        """
        self._refuse_unless("bytes")
        fields: list[bytes] = []
        values: list[bytes] = []
        size = 0
        for field, value in entries.items() if isinstance(entries, Mapping) else entries:
            fields.append(_bytes(field))
            values.append(_bytes(value))
            size += len(values[-1])
            if len(fields) == _FIELDS or size >= _SENT:
                self._put(fields, values)
                fields, values, size = [], [], 0
        self._put(fields, values)

    def _put(self, fields: list[bytes], values: list[bytes]) -> None:
        for part in self._spread.parts(fields):
            commands = []
            for shard, indices, own in part:
                words = [word for index, field in zip(indices, own, strict=True) for word in (field, values[index])]
                commands.append(Command("DICT.SET", self._spread.key(shard), *words))
            self._spread.run(commands)

    def number(self, field: _Bytes) -> int:
        """Return the number of a field. A new field gets one that no other field of the dictionary has had.

        The numbers are not consecutive: each key of the server counts on its own, and a field's number is this count
        times ``shards`` plus the number of its key.
        """
        return self.number_many([field])[0]

    def number_many(self, fields: Iterable[_Bytes]) -> list[int]:
        """Return the number of each field, in order, as number() does."""
        self._refuse_unless("numbers")
        return self._ask("DICT.NUMBER", fields)

    def delete(self, field: _Bytes) -> bool:
        """Remove a field. Return True if it was there."""
        return self.delete_many([field]) == 1

    def delete_many(self, fields: Iterable[_Bytes]) -> int:
        """Remove fields. Return how many of them were there; fewer if a connection broke meanwhile."""
        deleted = 0
        for part in self._spread.parts([_bytes(field) for field in fields]):
            commands = [Command("DICT.DEL", self._spread.key(shard), *own) for shard, _, own in part]
            deleted += sum(self._spread.run(commands))
        return deleted

    def clear(self) -> None:
        """Remove all fields. Numbers begin from 0 again. No process should use the dictionary meanwhile."""
        self._spread.run([Command("UNLINK", key) for key in self._spread.keys()])

    def prefix(self, prefix: _Bytes) -> Iterator[tuple[Any, Any]]:
        """Return an iterator of the fields that begin with a prefix and their values, in the order of their bytes.

        All keys are asked, page after page, which takes up to 64 MiB of memory, or one value of each key. An entry that
        is added or removed meanwhile is returned or not.
        """
        return self._merged("DICT.PREFIX", _bytes(prefix))

    def range(self, start: _Bytes = b"", stop: _Bytes = b"") -> Iterator[tuple[Any, Any]]:
        """Return an iterator of the fields from ``start`` on and before ``stop``, and their values, like prefix().

        An empty ``stop`` is no end.
        """
        return self._merged("DICT.RANGE", _bytes(start), _bytes(stop))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Return an iterator of all fields and their values, like prefix()."""
        return self.range()

    def __iter__(self) -> Iterator[Any]:
        return (field for field, _ in self.items())

    def __len__(self) -> int:
        return sum(self._spread.run([Command("DICT.COUNT", key) for key in self._spread.keys()]))

    def __contains__(self, field: object) -> bool:
        return isinstance(field, _Bytes) and self.get(field) is not None

    def __getitem__(self, field: _Bytes) -> Any:
        value = self.get(field)
        if value is None:
            raise KeyError(field)
        return value

    def __setitem__(self, field: _Bytes, value: _Bytes) -> None:
        self.put(field, value)

    def __delitem__(self, field: _Bytes) -> None:
        if not self.delete(field):
            raise KeyError(field)

    def __repr__(self) -> str:
        return f"<furui.valkey.Dict {self.name!r} of {self.kind}, {self.shards} shards>"

    def _refuse_unless(self, kind: str) -> None:
        if self.kind != kind:
            raise ConfigError(f"{self.name} is a dictionary of {self.kind}, not of {kind}")

    def _ask(self, name: str, fields: Iterable[_Bytes]) -> list[Any]:
        """Sends a command for all fields, and returns their values or numbers in order."""
        wanted = [_bytes(field) for field in fields]
        answers: list[Any] = [None] * len(wanted)
        for part in self._spread.parts(wanted):
            found = self._spread.run([Command(name, self._spread.key(shard), *own) for shard, _, own in part])
            for (shard, indices, _), values in zip(part, found, strict=True):
                for index, value in zip(indices, values, strict=True):
                    answers[index] = self._value(value, shard)
        return answers

    def _value(self, value: Any, shard: int) -> Any:
        """What users get of a value of the server: numbers of the keys become different from each other."""
        return value * self.shards + shard if isinstance(value, int) else value

    def _merged(self, name: str, *bounds: bytes) -> Iterator[tuple[Any, Any]]:
        """The entries of all keys in the order of their fields. Each key is asked for the next page of its own."""
        pages: list[deque[tuple[bytes, Any]]] = [deque() for _ in range(self.shards)]
        last: list[bytes | None] = [None] * self.shards
        unfinished = dict.fromkeys(range(self.shards))
        limit, entries, size = _FIRST, 0, 0

        def fetch() -> None:
            nonlocal entries, size
            # Those that have enough for now are asked later, but many at once, because they run out at about one time.
            asked = [shard for shard in unfinished if len(pages[shard]) <= limit // 2]
            commands = []
            for shard in asked:
                after = last[shard]
                place = () if after is None else ("AFTER", after)
                commands.append(Command(name, self._spread.key(shard), *bounds, "LIMIT", limit, *place))
            for shard, reply in zip(asked, self._spread.run(commands), strict=True):
                if not reply:
                    del unfinished[shard]
                    continue
                pages[shard].extend(zip(reply[::2], reply[1::2], strict=True))
                last[shard] = reply[-2]
                entries += len(reply) // 2
                size += sum(len(word) for word in reply if isinstance(word, bytes))

        fetch()
        heads = [(page[0][0], shard) for shard, page in enumerate(pages) if page]
        heapify(heads)
        while heads:
            _, shard = heappop(heads)
            field, value = pages[shard].popleft()
            yield field.decode("utf-8", "surrogateescape") if self.text else field, self._value(value, shard)
            if not pages[shard] and shard in unfinished:
                limit = max(1, min(_MOST, _FETCHED // self.shards // (size // entries + _OBJECTS)))
                fetch()
            if pages[shard]:
                heappush(heads, (pages[shard][0][0], shard))


def _bytes(word: _Bytes) -> bytes:
    if isinstance(word, str):
        return word.encode("utf-8", "surrogateescape")
    if isinstance(word, (bytes, bytearray, memoryview)):
        return bytes(word)
    raise TypeError(f"a field or value is str or bytes, not {type(word).__name__}")
