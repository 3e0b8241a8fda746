"""Moves values of a server to files, and files into a server: values of a single key, and sets over many keys."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from ._furui import Dict, Seen, export_hashes, import_hashes
from ._nodes import Command, Nodes
from ._spread import Spread, answers_of, error_of
from .errors import ConfigError, DamageError, Error

__all__ = ["dump", "load", "remove"]

#: The maximum length of a piece of a file that is sent to the server, in bytes, as in the module furui-valkey.
_PIECE = 16 << 20
#: The names of files of a store that are not sent, because they say nothing about the contents of the set.
_NOT_SENT = ("LOCK", "TIERS")
#: The number of bytes of a hash in a file of hashes.
_HASH = 8


def load(
    client: Any,
    name: str,
    path: str | os.PathLike[str],
    *,
    shards: int | None = 1024,
    patience: float = 30.0,
) -> None:
    """Create a value of the server from files: ``path`` is the file of a filter, or the directory of a store.

    The set of a store is spread over ``shards`` keys, and ``furui.valkey.Seen(client, name, shards=shards)`` is this
    set. Its keys must be hashed by XXH3, with any seed, and it must not have a window. With ``shards=None``, a set is a
    value of the single key ``name``, as a filter and a dictionary always are.

    The value can be used only when all of it has arrived. If the call fails, what has arrived is removed.
    """
    path, nodes = Path(path), Nodes(client)
    files = _files(path)
    if not files:
        raise ConfigError(f"{path}: there are no files in it")
    if path.is_dir() and shards is not None and not _is_dictionary(path):
        _load_spread(Spread(client, name, shards, patience), path)
        return
    if any(file.name == "JOURNAL" for file in files):
        raise ConfigError(f"{path}: the store has a journal: run `furui compact` on it first")
    _send(nodes, name, files, patience)


def dump(client: Any, name: str, path: str | os.PathLike[str], *, patience: float = 30.0) -> None:
    """Write a value of the server to files: to a new directory ``path`` for a set, or to a file for a filter.

    ``name`` is a key, or the name of a set of ``furui.valkey.Seen`` without a window. ``path`` appears only when it is
    complete. A key is written as it was at one moment. The keys of a set are written one after the other, so a member
    that is added or discarded meanwhile is in the files or not. The other programs and libraries of furui can read
    them.
    """
    path, nodes = Path(path), Nodes(client)
    if path.exists():
        raise FileExistsError(f"{path} exists already")
    is_single = answers_of(nodes, [Command("EXISTS", name)], patience)[0]
    found = None if is_single else Spread.of(client, name, patience)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        if found:
            whole = _fetch_spread(*found, Path(folder))
        else:
            files = _fetch(nodes, name, whole := Path(folder, "value"), patience)
            for file in files:
                with file.open("rb") as written:
                    os.fsync(written.fileno())
            if len(files) == 1 and files[0].name != "MANIFEST":
                whole = files[0]
        whole.rename(path)


def remove(client: Any, name: str, *, patience: float = 30.0) -> None:
    """Delete a set or a dictionary that is spread over many keys, or what a load has left that was killed.

    No process should use it meanwhile.
    """
    found = Spread.of(client, name, patience)
    if found:
        found[0].remove()


def _files(path: Path) -> list[Path]:
    """The files to send: those of a store, or one file."""
    return sorted(file for file in path.iterdir() if file.name not in _NOT_SENT) if path.is_dir() else [path]


def _is_dictionary(store: Path) -> bool:
    with suppress(Error, OSError), Dict(store, read_only=True):
        return True
    return False


def _load_spread(spread: Spread, store: Path) -> None:
    """Loads a set into many keys. Their record appears when all are there; until then it says that they are loaded."""
    with Seen(store, read_only=True, like=store) as seen:
        algorithm, seed = seen.hash.split(":")
    if algorithm != "xxh3":
        raise ConfigError(
            f"{store}: its hash is {algorithm}, and that of a set over many keys is xxh3: give shards=None"
        )
    made: list[str] = []
    with tempfile.TemporaryDirectory(prefix="furui-load-") as folder:
        hashes = _by_shard(store, Path(folder))
        spread.begin_loading(int(seed, 16))
        try:
            with hashes.open("rb") as file:
                for shard, key in enumerate(spread.keys()):
                    part = _part(file, spread, shard, Path(folder, "part"), like=store)
                    _send(spread.nodes, key, _files(part), spread.patience)
                    made.append(key)
                    shutil.rmtree(part)
            spread.end_loading()
        except BaseException:
            with suppress(Exception):
                # If the server is gone, the reason why the call fails says more than this.
                spread.run([Command("UNLINK", key) for key in [*made, spread.record]], patience=0)
            raise


def _by_shard(store: Path, folder: Path) -> Path:
    """Writes the hashes of a set to a file, with their halves exchanged, in ascending order: shard after shard."""
    plain, exchanged, ordered = folder / "plain", folder / "exchanged", folder / "ordered"
    export_hashes(store, plain)
    with plain.open("rb") as file, exchanged.open("wb") as out:
        while run := file.read(1 << 20):
            out.write(_exchanged(run))
    with Seen(ordered, like=store):
        pass
    import_hashes(ordered, exchanged)
    export_hashes(ordered, plain)
    return plain


def _exchanged(hashes: bytes) -> bytes:
    """Exchanges the two halves of each hash."""
    halves = array("I", hashes)
    halves[::2], halves[1::2] = halves[1::2], halves[::2]
    return halves.tobytes()


def _part(hashes: BinaryIO, spread: Spread, shard: int, part: Path, *, like: Path) -> Path:
    """Makes a store of the hashes of one shard, which are the next ones in the file."""
    end = -(-((shard + 1) << 64) // spread.shards)
    with Seen(part, like=like):
        pass
    own = part.with_name("own")
    with own.open("wb") as out:
        while run := hashes.read(_HASH << 10):
            places = range(0, len(run), _HASH)
            # The hashes ascend, so those before the end of the range are the first ones.
            inside = bisect_left(places, end, key=lambda place: int.from_bytes(run[place : place + _HASH], "little"))
            out.write(_exchanged(run[: inside * _HASH]))
            if inside < len(places):
                hashes.seek(inside * _HASH - len(run), os.SEEK_CUR)
                break
    if own.stat().st_size:
        import_hashes(part, own)
    return part


def _fetch_spread(spread: Spread, what: str | None, folder: Path) -> Path:
    """Fetches a set over many keys: its hashes are those of all keys."""
    if what is not None:
        raise ConfigError(f"{spread.name} is recorded as {what!r}: only a set without a window is dumped as a whole")
    whole, hashes, part, own = (folder / name for name in ("value", "hashes", "part", "own"))
    with hashes.open("ab") as out:
        for key in spread.keys():
            _fetch(spread.nodes, key, part, spread.patience)
            with Seen(part, read_only=True, like=part) as seen:
                if seen.hash != f"xxh3:{spread.seed:#x}":
                    raise Error(f"the key {key} has another hash than {spread.name}: it was lost, and made again")
            export_hashes(part, own)
            with own.open("rb") as data:
                shutil.copyfileobj(data, out)
            if not whole.exists():
                with Seen(whole, like=part):
                    pass
            shutil.rmtree(part)
    import_hashes(whole, hashes)
    return whole


def _send(nodes: Nodes, key: str, files: list[Path], patience: float) -> None:
    """Sends the files of a value to the server. If this fails, what has arrived is removed."""
    total = sum(max(-(-file.stat().st_size // _PIECE), 1) for file in files)
    here = 0
    try:
        for name, piece in _pieces(files):
            command = Command("FURUI.LOAD", key, f"{here + 1}/{total}", name, piece)
            nodes.run([command], patience)
            if command.refusal and not (command.is_uncertain and _has_arrived(command.refusal, here + 1, total)):
                raise error_of(nodes, command)
            here += 1
        if here != total:
            raise Error(f"{files[0].parent}: the files have changed meanwhile")
    except BaseException:
        if 0 < here < total:
            with suppress(Exception):
                # If the server is gone, the reason why the call fails says more than this.
                nodes.run([Command("UNLINK", key)], 0)
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


def _fetch(nodes: Nodes, key: str, folder: Path, patience: float) -> list[Path]:
    """Fetches the files of a key into a new folder, all of one moment. Returns their paths."""
    for attempt in count(1):
        folder.mkdir()
        try:
            _fetch_once(nodes, key, folder, patience)
            break
        except nodes.errors.ResponseError as error:
            # The server has started again, or too many others dump at the same time.
            if attempt == 10 or "begin again" not in str(error):
                raise
            shutil.rmtree(folder)
    return list(folder.iterdir())


def _fetch_once(nodes: Nodes, key: str, folder: Path, patience: float) -> None:
    place, total = 0, 1
    # All pieces are of the moment at which the first one was fetched.
    dump: list[int] = []
    while place < total:
        place += 1
        _, total, name, piece, *dump = answers_of(nodes, [Command("FURUI.DUMP", key, place, *dump)], patience)[0]
        file = name.decode("utf-8", "replace")
        if Path(file).name != file or file.startswith("."):
            raise DamageError(f"the server has sent a file name that is not plain: {file!r}", file)
        with Path(folder, file).open("ab") as out:
            out.write(piece)
