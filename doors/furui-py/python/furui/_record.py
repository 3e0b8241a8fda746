"""Catching up: a set learns the keys of all rows that were committed to its source."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from . import _protocol as protocol
from ._bucket import Bucket, folder_of, is_url
from ._furui import Run, _pack
from ._protocol_effects import Object, State
from .errors import ConfigError, ConflictError, Error
from .sources import Appended, RemovedError, Source

#: What happens if rows whose keys the set knows were removed from the source.
Removed = Literal["error", "keep", "rebuild"]

#: Puts the keys of what was appended into objects of a bucket. It may be called again, for other objects.
Build = Callable[[Bucket, State, Appended, str], Sequence[Object]]

#: The number of times that the work begins again because another one has moved the note elsewhere.
_TRIES: Final = 8
_MEMORY: Final = 64 << 20
#: In a directory, the names of sub-folders that were read are keys with this beginning.
_NAME: Final = "\0furui source\0"
_LOG: Final = logging.getLogger("furui")


def record(
    store: str | os.PathLike[str],
    source: Source,
    column: str,
    *,
    removed: Removed = "error",
    memory: int = _MEMORY,
    build: Build | None = None,
    **options: Any,
) -> str | None:
    """Adds the keys of all rows that were committed to a source since the note of the set, and moves the note.

    It reads everything from the note to the head, whoever wrote it: so a job that died after its commit is repaired by
    the next call, and two jobs at once are no matter. Recording twice changes nothing.

    store: a directory, or the URL of a set in a bucket.
    source: furui.sources.Delta, Iceberg or Folder.
    column: the column of the keys.
    removed: what happens if rows whose keys the set may know are gone from the source: "error" raises RemovedError;
        "keep" goes on, and their keys stay known; "rebuild" makes the set anew from all rows that are there (in a
        bucket).
    options: those of the bucket.

    Rows that have the key of another new row, as when two jobs wrote at once, are counted in a warning of the logger
    "furui".

    Returns the note that the set has then.
    """
    if removed not in ("error", "keep", "rebuild"):
        raise ConfigError(f"removed={removed!r}: give 'error', 'keep' or 'rebuild'")
    for _ in range(_TRIES):
        try:
            if is_url(store):
                return _record_in_bucket(str(store), source, column, removed, memory, build or _build, options)
            return _record_in_directory(Path(store), source, column, removed, memory)
        except (protocol.Restart, ConflictError):
            continue
    raise Error(f"{store}: others move the note of the set all the time: try again")


def check(store: str, source: Source, note: str | None, removed: Removed) -> None:
    """Raises RemovedError if rows whose keys the set may know are gone from its source, and nobody has said what then."""
    head = source.head()
    if head is None or note is None or note == head or removed == "keep":
        return
    _told(store, source.appended(note, head, lambda names: [False] * len(names)).removed)


def _told(store: object, removed: str | None) -> None:
    if removed is not None:
        raise RemovedError(
            f"{store}: {removed}. The set may know keys whose rows are no more, which jobs then drop: record with"
            " removed='rebuild' makes it anew, and removed='keep' goes on; run a job again that ran meanwhile"
        )


def tell_of_repeats(store: object, rows: int, repeats: int) -> None:
    """Warns of rows that are there twice, which two jobs have written that asked before either had recorded."""
    if repeats:
        _LOG.warning("%s: %d of %d rows since the note have a key that another row has, too", store, repeats, rows)


def _add(store: object, run: Any, appended: Appended, column: str) -> None:
    """Adds the keys of rows to a run, and warns of repeats."""
    rows = 0
    for array in appended.read(column):
        run.add_many(array)
        rows += len(array) - array.null_count
    tell_of_repeats(store, rows, rows - len(run))


def _record_in_bucket(
    url: str, source: Source, column: str, removed: Removed, memory: int, build: Build, options: dict[str, Any]
) -> str | None:
    bucket = Bucket(url, **options)
    base, _ = bucket.read()
    # The head is read after the note, so that it cannot be older.
    head = source.head()
    if head is None or (source.has_order and head == base.note):
        return base.note
    appended = source.appended(base.note, head, lambda names: _known(bucket, base, names))
    if appended.removed is not None and removed == "rebuild":
        all = source.everything(head)
        expected = protocol.Expect(head, base.note)
        built = protocol.merge(
            os.urandom(16), base, base.objects, lambda: build(bucket, base, all, column), _now(), expected
        )
        state = bucket.drive(built)
        if state is None:
            raise protocol.Restart("another merge came first")
        return state.note
    if removed == "error":
        _told(url, appended.removed)
    if not source.has_order and not appended.names:
        return base.note
    rule: protocol.Rule
    if source.has_order and appended.removed is None:
        rule = protocol.CatchUp(base.note, head, source.is_ancestor)
    elif source.has_order:
        rule = protocol.Expect(head, base.note)
    else:
        rule = protocol.Expect(head)
    parts = lambda: build(bucket, base, appended, column)  # noqa: E731
    note = bucket.drive(protocol.commit(os.urandom(16), base, parts, rule)).note
    if source.has_order and note != head and (note is None or not source.is_ancestor(head, note)):
        # Others have made the set anew since, from rows that may lack these.
        raise protocol.Restart(f"the set has the note {note!r} now, which does not contain {head!r}")
    return note


def _now() -> int:
    import time

    return int(time.time())


def _known(bucket: Bucket, state: State, names: list[str]) -> list[bool]:
    """Tells which names of sub-folders a set in a bucket remembers. They are in a shard of their own."""
    with folder_of(None) as folder:
        files = bucket.fetch(state, folder, [state.shards])
        from ._furui import _open_over

        seen = _open_over(bucket.manifest, bucket.name("names"), files, 1 << 20, True)
        return seen.has_many(names)


def empty(bucket: Bucket, base: State, memory: int = _MEMORY) -> Any:
    """Opens a set without keys that hashes them as the set in the bucket does."""
    manifest = bucket.encode(replace(base, objects=()))
    return bucket.open(replace(base, objects=()), manifest, None, memory, read_only=False)


def _build(bucket: Bucket, base: State, appended: Appended, column: str) -> list[Object]:
    """Builds one object in this process."""
    seen = empty(bucket, base)
    _add(bucket.url, seen, appended, column)
    if not len(seen) and not appended.names:
        return []

    def pack(id: bytes) -> tuple[bytes, Object]:
        data, entry = _pack(seen, base.shards, list(appended.names), id)
        return data, Object(*entry)

    return [bucket.put(pack)]


def _record_in_directory(path: Path, source: Source, column: str, removed: Removed, memory: int) -> str | None:
    with Run(path, memory=memory) as run:
        note = run.note
        head = source.head()
        if head is None or (source.has_order and head == note):
            return note
        appended = source.appended(note, head, lambda names: run.has_many([_NAME + name for name in names]))
        if removed == "rebuild" and appended.removed is not None:
            raise ConfigError(f"{path}: {appended.removed}: remove the directory, and record again to make the set anew")
        if removed == "error":
            _told(path, appended.removed)
        if not source.has_order and not appended.names:
            return note
        _add(path, run, appended, column)
        run.add_many([_NAME + name for name in appended.names])
        # If another one has moved the note, this is a conflict, and begins again from there.
        run.commit(head, after=note if source.has_order else ...)
        return head
