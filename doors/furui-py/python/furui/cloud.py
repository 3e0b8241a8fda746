"""Sets in buckets, which many machines share: to create them, to commit to them, to merge and to sweep them.

A set must never know a key whose row is not committed: see docs/machines.md. Everything here takes the URL of the set,
and options of ``obstore.store.from_url`` for the service, such as ``region`` or ``endpoint``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import _protocol as protocol
from ._bucket import Bucket, GoneError, Made, folder_of
from ._furui import _pack, _pack_runs, _random_hash
from ._protocol_effects import ContentionError, Missing, Object, ReplacedError, State, UncertainError
from .errors import ConfigError, Error

if TYPE_CHECKING:
    from ._furui import Seen

__all__ = [
    "ContentionError",
    "GoneError",
    "Missing",
    "ReplacedError",
    "Run",
    "UncertainError",
    "create",
    "merge",
    "open",
    "sweep",
]

#: The memory of a set that is opened, in bytes.
_MEMORY: Final = 64 << 20
#: Runs that have been replaced are kept for so many seconds, for readers of earlier generations.
WEEK: Final = 7 * 24 * 3600


def create(url: str, shards: int = 1, *, hash: str | None = None, form: str = "", **options: Any) -> None:
    """Creates a set in a bucket, unless there is one.

    shards: into how many parts the keys are divided by the first bits of their hashes: a power of two. A reader can
        fetch some of them. Each object has a run for each shard: with fewer than 12,500 keys in a run, a key takes
        more bytes.
    hash: how keys are hashed, as in "xxh3:0"; None: XXH3 with a random seed.
    form: how the program makes keys from its records, in its own words.

    Raises ConfigError if the service does not honour conditional requests, or if the set that is there has other
    shards, another form or another hash than those that were asked for.
    """
    bucket = Bucket(url, **options)
    bucket.made = Made(hash or _random_hash(), form)
    _probe(bucket)
    state = bucket.drive(protocol.create(os.urandom(16), shards))
    made = bucket.made
    if state.shards != shards or made.form != form or (hash is not None and made.hash != hash):
        raise ConfigError(
            f"{url}: there is a set with {state.shards} shards, the hash {made.hash} and the form {made.form!r} already"
        )


def _probe(bucket: Bucket) -> None:
    """Finds out whether the service honours the conditions on which the protocol rests."""
    store, errors = bucket._store, bucket._errors
    name = f"probe-{os.urandom(16).hex()}"
    try:
        for mode, must_fail in [("create", False), ("create", True), ({"e_tag": '"0"'}, True)]:
            try:
                store.put(name, b"probe", mode=mode)
            except (FileExistsError, errors.AlreadyExistsError, errors.PreconditionError):
                if must_fail:
                    continue
                raise
            if must_fail:
                raise ConfigError(f"{bucket.url}: this service ignores the condition of a request, which a set needs")
    except NotImplementedError as error:
        raise ConfigError(f"{bucket.url}: this service knows no conditional requests, which a set needs") from error
    except FileNotFoundError as error:
        raise Missing(f"{bucket.url}: there is no such bucket") from error
    except errors.BaseError as error:
        raise Error(f"{bucket.url}: {error}") from error
    finally:
        with bucket._quietly():
            store.delete(name)


def open(
    url: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    memory: int = _MEMORY,
    shards: Iterable[int] | None = None,
    **options: Any,
) -> Seen:
    """Opens a set in a bucket to look keys up, as it is now. furui.Seen(url, read_only=True, cache=...) does the same.

    cache: a folder on this machine that keeps what was fetched, for this process and others; None: all is fetched anew.
    shards: fetch only these, and ask only for their keys (furui.shard_of); None: all.
    """
    bucket = Bucket(url, **options)
    state = bucket.latest(_path(cache))
    return bucket.open(state, bucket.manifest, _path(cache), memory, read_only=True, shards=shards)


def _path(cache: str | os.PathLike[str] | None) -> Path | None:
    return None if cache is None else Path(cache)


class Run:
    """A run over a set in a bucket, as furui.Run is over a set in a directory: nothing is recorded before commit().

        with furui.cloud.Run("s3://bucket/urls.seen", cache="/var/cache/furui") as run:
            new = run.add_many(urls)
            ...                              # write the rows of the new keys, and commit them
            run.commit(note="2026-11-27")
    """

    def __init__(
        self, url: str, *, cache: str | os.PathLike[str] | None = None, memory: int = _MEMORY, **options: Any
    ) -> None:
        self._bucket = Bucket(url, **options)
        self._base = self._bucket.latest(_path(cache))
        self._seen = self._bucket.open(self._base, self._bucket.manifest, _path(cache), memory, read_only=False)
        self.add, self.add_many = self._seen.add, self._seen.add_many
        self.has, self.has_many = self._seen.has, self._seen.has_many

    def __len__(self) -> int:
        """Return how many keys commit() would add."""
        return len(self._seen)

    def __contains__(self, key: object) -> bool:
        return key in self._seen

    @property
    def note(self) -> str | None:
        """The note that the set had when the run was opened."""
        return self._base.note

    def commit(self, note: str | None = None, *, after: str | None | Any = ...) -> None:
        """Add the keys of the run to the set, in one change. note, after: as in furui.Run.

        Raises ContentionError if others commit all the time. The run is at its end: open another one.
        """
        rule = protocol.Expect(protocol.KEEP if note is None else note, protocol.ANY if after is ... else after)
        parts = (lambda: [self._bucket.put(self._build)]) if len(self._seen) else None
        self._bucket.drive(protocol.commit(os.urandom(16), self._base, parts, rule))
        self.close()

    def _build(self, id: bytes) -> tuple[bytes, Object]:
        data, entry = _pack(self._seen, self._base.shards, [], id)
        return data, Object(*entry)

    def close(self) -> None:
        """Forget the keys of the run that were not committed."""
        self._seen.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def merge(url: str, *, all: bool = False, cache: str | os.PathLike[str] | None = None, **options: Any) -> bool:
    """Merges small objects of a set into one, so that readers have fewer to fetch and to search.

    all: merge all objects, after which the set takes the least space, and len() is exact.

    The new object is made in memory and put in one request, so it has at most 500,000,000 keys, which take 3 GB.

    Returns False if there was nothing to merge, or if another merge came first. Raises ConfigError if all objects
    together have more keys than that.
    """
    bucket = Bucket(url, **options)
    now = int(time.time())
    base, _ = bucket.read()
    chosen = base.objects if all else _to_merge(base.objects)
    if len(chosen) < 2:
        return False
    if sum(each.keys for each in chosen) > _MOST_KEYS:
        raise ConfigError(f"{url}: more than {_MOST_KEYS:,} keys, which fit into no object: merge without all=True")
    with folder_of(_path(cache)) as folder:
        part = State(base.store, 0, 0, base.shards, tuple(chosen), (), None, ())
        files = bucket.fetch(part, folder, range(base.shards + 1))
        assert bucket.made is not None
        hash = bucket.made.hash

        def build(id: bytes) -> tuple[bytes, Object]:
            data, entry = _pack_runs(hash, base.shards, files, id)
            return data, Object(*entry)

        return bucket.drive(protocol.merge(os.urandom(16), base, chosen, lambda: [bucket.put(build)], now)) is not None


def _to_merge(objects: tuple[Object, ...]) -> tuple[Object, ...]:
    """The newest objects that are merged: as long as the next older one is no more than 5/4 of them together.

    So n commits leave some log n objects, and a key is written log n times.
    """
    if not objects:
        return ()
    count, keys = 1, objects[-1].keys
    while count < len(objects) and objects[-1 - count].keys <= max(keys * 5 // 4, _SMALL):
        if keys + objects[-1 - count].keys > _MOST_KEYS:
            break
        keys += objects[-1 - count].keys
        count += 1
    return objects[len(objects) - count :]


#: An object of at most so many keys is always merged with the newer ones: to write it anew costs less than to ask it.
_SMALL: Final = 200_000
#: The maximum number of keys of an object that a merge makes. S3 takes at most 5 GB in one request.
_MOST_KEYS: Final = 500_000_000


def sweep(url: str, *, older_than: float = WEEK, **options: Any) -> None:
    """Deletes the objects of a set that nobody needs: replaced by a merge, or put by a task that never committed.

    older_than: the number of seconds for which readers may go on with a set that they have opened.
    """
    bucket = Bucket(url, **options)
    base, _ = bucket.read()
    bucket.drive(protocol.sweep(os.urandom(16), base, int(older_than), int(time.time())))
