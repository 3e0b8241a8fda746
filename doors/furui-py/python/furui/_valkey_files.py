"""Moves values of a server to files, and files into a server."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ._nodes import Command, Nodes
from ._spread import answers_of, error_of
from .errors import ConfigError, DamageError, Error

__all__ = ["dump", "load"]

#: The maximum length of a piece of a file that is sent to the server, in bytes, as in the module furui-valkey.
_PIECE = 16 << 20
#: The names of files of a store that are not sent, because they say nothing about the contents of the set.
_NOT_SENT = ("LOCK", "TIERS")


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
                raise error_of(nodes, command)
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
        _, total, name, piece, *dump = answers_of(nodes, [Command("FURUI.DUMP", key, place, *dump)], patience)[0]
        file = name.decode("utf-8", "replace")
        if Path(file).name != file or file.startswith("."):
            raise DamageError(f"the server has sent a file name that is not plain: {file!r}", file)
        with Path(folder, file).open("ab") as out:
            out.write(piece)
            out.flush()
            os.fsync(out.fileno())
