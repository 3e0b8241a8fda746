"""A set in a bucket: the requests that the protocol asks for, and the files that readers keep."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from ._furui import _decode_manifest, _encode_manifest, _open_over, _read_table
from ._protocol_effects import Delete, List, Missing, Object, Pause, Put, Read, State, Steps, Swap
from .errors import ConfigError, DamageError, Error

if TYPE_CHECKING:
    from ._furui import Seen

#: A run of a pack: shard, offset, length, number of keys, checksum.
Run: TypeAlias = tuple[int, int, int, int, int]
#: Makes the bytes of an object under this id.
Build: TypeAlias = Callable[[bytes], tuple[bytes, Object]]

_T = TypeVar("_T")

_MANIFEST: Final = "MANIFEST"
_SUFFIX: Final = ".pack"
#: The longest pause before the second attempt to replace a manifest, in seconds. Each further one may be twice as long.
_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0


class GoneError(Error):
    """An object that a manifest names is gone: it was replaced by a merge, and then swept. Open the set again."""


@dataclass(frozen=True, slots=True)
class Made:
    """How the keys of a set are made and hashed, which never changes."""

    hash: str
    form: str


def is_url(path: object) -> bool:
    """Returns True for the URL of a set in a bucket, which is no path of this machine."""
    return isinstance(path, str) and "://" in path


class Bucket:
    """A set in a bucket of S3, Google or Azure, or of a service that speaks like one of them.

    url: the place of the set, as in "s3://bucket/urls.seen".
    options: those of ``obstore.store.from_url``, such as ``region`` or ``endpoint``.
    """

    def __init__(self, url: str, **options: Any) -> None:
        try:
            import obstore
            import obstore.exceptions
            import obstore.store
        except ImportError:
            raise ConfigError(f"{url}: a set in a bucket needs obstore: pip install 'furui[cloud]'") from None
        if url.startswith("file://"):
            raise ConfigError(f"{url}: a set on this machine is named by its path: {url.removeprefix('file://')}")
        self.url = url.rstrip("/")
        self._errors: Any = obstore.exceptions
        self._store: Any = obstore.store.from_url(self.url, **options)
        #: What the manifest says of all keys; None before it was read.
        self.made: Made | None = None
        #: The bytes of the manifest that was read last.
        self.manifest = b""

    def name(self, key: str) -> str:
        """Returns how an error names an object."""
        return f"{self.url}/{key}"

    # The effects of the protocol.

    def drive(self, steps: Steps[_T]) -> _T:
        """Makes the requests for which a generator of the protocol asks, and returns its result."""
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._do(effect)
                except Missing as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            result = end.value
            return result  # type: ignore[no-any-return]

    def _do(self, effect: object) -> Any:
        match effect:
            case Read():
                return self.read()
            case Swap(state, tag):
                return self._swap(state, tag)
            case Put(parts):
                return tuple(parts())
            case List():
                return self._list()
            case Delete(ids):
                for id in ids:
                    with self._quietly():
                        self._store.delete(id.hex() + _SUFFIX)
            case Pause(attempt):
                time.sleep(random.uniform(0, min(_PAUSE * 2**attempt, _LONGEST_PAUSE)))
            case _:
                raise AssertionError(effect)
        return None

    def read(self) -> tuple[State, Any]:
        """Reads the manifest. Raises Missing if there is none."""
        try:
            answer = self._store.get(_MANIFEST)
            data = bytes(answer.bytes())
        except FileNotFoundError as error:
            # A bucket that does not exist looks alike. It must not be taken for a set without keys.
            raise Missing(f"{self.url}: there is no set here, or no such bucket: furui.create makes a set") from error
        except self._errors.BaseError as error:
            raise Error(f"{self.name(_MANIFEST)}: {error}") from error
        hash, form, store, generation, epoch, shards, objects, dropped, note, commits = _decode_manifest(
            data, self.name(_MANIFEST)
        )
        self.made, self.manifest = Made(hash, form), data
        named = tuple(Object(*entry) for entry in objects)
        state = State(store, generation, epoch, shards, named, tuple(dropped), note, tuple(commits))
        return state, answer.meta["e_tag"]

    def latest(self, cache: Path | None) -> State:
        """Reads the manifest for a reader. Raises Error if its cache has known a newer one: an old answer."""
        state, _ = self.read()
        if cache is not None:
            path = cache / state.store.hex() / "generation"
            known = int(path.read_text()) if path.exists() else 0
            if state.generation < known:
                raise Error(
                    f"{self.name(_MANIFEST)}: generation {state.generation} came, and {cache} has known {known}:"
                    " something between here and the service has kept an old answer: ask again"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, str(state.generation).encode())
        return state

    def encode(self, state: State) -> bytes:
        """Returns the bytes of a manifest."""
        assert self.made is not None, "the manifest was read or made"
        made, objects = self.made, [_entry(each) for each in state.objects]
        fixed = (made.hash, made.form, state.store, state.generation, state.epoch, state.shards)
        return _encode_manifest((*fixed, objects, list(state.dropped), state.note, list(state.commits)))

    def _swap(self, state: State, tag: Any) -> bool:
        mode = "create" if tag is None else {"e_tag": tag}
        try:
            self._store.put(_MANIFEST, self.encode(state), mode=mode)
        except NotImplementedError:
            raise ConfigError(f"{self.url}: this service knows no conditional requests, which a set needs") from None
        except (self._errors.BaseError, OSError):
            # Whoever won, the manifest tells.
            return False
        return True

    def put(self, build: Build) -> Object:
        """Puts an object under a fresh random name."""
        id = os.urandom(16)
        data, made = build(id)
        name = id.hex() + _SUFFIX
        try:
            # One request, whatever the size. A name that is taken would be an error.
            self._store.put(name, data, mode="create")
        except FileExistsError:
            # The client has repeated a request whose answer was lost: the object is this one.
            self._check(name, made)
        except self._errors.AlreadyExistsError:
            self._check(name, made)
        except self._errors.BaseError as error:
            if not self._is_there(name, made):
                raise Error(f"{self.name(name)}: {error}") from error
        return made

    def _check(self, name: str, made: Object) -> None:
        if not self._is_there(name, made):
            raise Error(f"{self.name(name)}: another object has this random name: try again")

    def _is_there(self, name: str, made: Object) -> bool:
        """Returns True if the object with this name is the one that was just put."""
        try:
            if self._store.head(name)["size"] != made.length:
                return False
            self._table(made)
        except (FileNotFoundError, DamageError, self._errors.BaseError):
            return False
        return True

    def _list(self) -> Sequence[tuple[bytes, int]]:
        found = []
        now = time.time()
        for part in self._store.list():
            for meta in part:
                stem, dot, suffix = meta["path"].rpartition("/")[2].partition(".")
                if dot + suffix == _SUFFIX and len(stem) == 32:
                    found.append((bytes.fromhex(stem), int(now - meta["last_modified"].timestamp())))
        return found

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, self._errors.BaseError):
            pass

    # Reading.

    def range(self, object: Object, start: int, length: int) -> bytes:
        """Reads bytes of an object, all of them or an error."""
        name = object.id.hex() + _SUFFIX
        try:
            data = bytes(self._store.get_range(name, start=start, length=length))
        except FileNotFoundError as error:
            raise GoneError(
                f"{self.name(name)}: the manifest names this object, and it is gone; if it was swept after a merge,"
                " open the set again"
            ) from error
        except self._errors.BaseError as error:
            raise Error(f"{self.name(name)}: {error}") from error
        if len(data) != length:
            raise DamageError(
                f"{self.name(name)}: {len(data)} of {length} bytes from byte {start} on came", self.name(name), start
            )
        return data

    def _table(self, object: Object) -> list[Run]:
        data = self.range(object, object.table_offset, object.table_length)
        name = object.id.hex() + _SUFFIX
        return _read_table(data, _entry(object), self.name(name))

    def fetch(self, state: State, folder: Path, shards: Iterable[int] | None = None) -> list[tuple[Path, Run]]:
        """Puts the runs of a state into a folder, as far as they are not there yet. Returns their files.

        shards: the shards that are wanted; None: those of all keys. Neighbouring runs come in one request.
        """
        wanted = None if shards is None else set(shards)
        folder = folder / state.store.hex()
        folder.mkdir(parents=True, exist_ok=True)
        files: list[tuple[Path, Run]] = []
        for each in state.objects:
            table = self._kept_table(each, folder)
            runs = [run for run in table if (run[0] < state.shards if wanted is None else run[0] in wanted)]
            paths = [folder / f"{each.id.hex()}-{run[0]:05}.run" for run in runs]
            missing = [(path, run) for path, run in zip(paths, runs) if not _has(path, run[2])]
            for group in _neighbours(missing):
                start, end = group[0][1][1], group[-1][1][1] + group[-1][1][2]
                data = self.range(each, start, end - start)
                for path, (_, offset, length, _, _) in group:
                    _write(path, data[offset - start : offset - start + length])
            files += zip(paths, runs)
        return files

    def _kept_table(self, object: Object, folder: Path) -> list[Run]:
        path = folder / f"{object.id.hex()}.table"
        if not _has(path, object.table_length):
            _write(path, self.range(object, object.table_offset, object.table_length))
        try:
            return _read_table(path.read_bytes(), _entry(object), self.name(object.id.hex() + _SUFFIX))
        except DamageError:
            # A file that was damaged here, or an answer that was: the next attempt asks again.
            path.unlink(missing_ok=True)
            raise

    def open(
        self,
        state: State,
        manifest: bytes,
        cache: Path | None,
        memory: int,
        *,
        read_only: bool,
        shards: Iterable[int] | None = None,
    ) -> Seen:
        """Opens the set at a state. What its cache lacks is fetched."""
        with folder_of(cache) as folder:
            files = self.fetch(state, folder, shards)
            return _open_over(manifest, self.name(_MANIFEST), files, memory, read_only)


def _entry(object: Object) -> tuple[bytes, int, int, int, int, int]:
    each = object
    return (each.id, each.length, each.keys, each.table_offset, each.table_length, each.table_checksum)


def _neighbours(runs: Sequence[tuple[Path, Run]]) -> Iterator[list[tuple[Path, Run]]]:
    """Groups runs that lie beside each other in their object: less than 4 KiB are between two of them."""
    group: list[tuple[Path, Run]] = []
    for path, run in runs:
        if group and run[1] - (group[-1][1][1] + group[-1][1][2]) > 4096:
            yield group
            group = []
        group.append((path, run))
    if group:
        yield group


def _has(path: Path, length: int) -> bool:
    try:
        return path.stat().st_size == length
    except FileNotFoundError:
        return False


def _write(path: Path, data: bytes) -> None:
    """Writes a file of the cache, which other processes may write, too: it appears whole."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


@contextmanager
def folder_of(cache: Path | None) -> Iterator[Path]:
    """Yields the folder of a cache, or a temporary one. Files that are open stay readable when it is gone."""
    if cache is not None:
        yield cache
        return
    with tempfile.TemporaryDirectory(prefix="furui-") as folder:
        yield Path(folder)


class _Kept:
    """Stands for a folder that is not temporary."""

    def cleanup(self) -> None:
        pass


def fetched(url: str, cache: Path | None) -> tuple[bytes, list[tuple[Path, Run]], Any]:
    """Fetches the set at a URL. Returns its manifest, its files, and a folder to clean up when they are open."""
    bucket = Bucket(url)
    state = bucket.latest(cache)
    folder = tempfile.TemporaryDirectory(prefix="furui-") if cache is None else None
    files = bucket.fetch(state, Path(folder.name) if folder else Path(cache or ""))
    return bucket.manifest, files, folder or _Kept()


#: The set that this worker process has open, with the id and the generation of its state.
_opened: tuple[bytes, int, Seen] | None = None


def open_once(
    store: str, options: dict[str, Any], state: State, manifest: bytes, cache: Path | None, memory: int
) -> Seen:
    """Opens the set at a state, once in a process."""
    global _opened
    if _opened is None or _opened[:2] != (state.store, state.generation):
        bucket = Bucket(store, **options)
        _opened = (state.store, state.generation, bucket.open(state, manifest, cache, memory, read_only=True))
    return _opened[2]
