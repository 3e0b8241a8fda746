"""Where committed rows are: Delta tables, Iceberg tables, and folders with one sub-folder a run.

A source says how far it has come (a note), what was appended since an earlier note, and whether something was removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .errors import ConfigError, Error

__all__ = ["Appended", "Delta", "Folder", "Iceberg", "RemovedError", "Source"]


class RemovedError(Error):
    """Rows whose keys the set knows may be gone from the source: it was rolled back, rewritten or made anew."""


@dataclass(frozen=True)
class Appended:
    """What a source has that a set does not know yet."""

    #: Reads the keys of the rows: Arrow arrays.
    read: Callable[[str], Iterator[Any]]
    #: The files, for engines that read them themselves.
    files: Sequence[str]
    #: The names of the sub-folders that are read, which the set remembers in place of a note.
    names: Sequence[str] = ()
    #: What was removed, if something was: then `read` gives only what was appended meanwhile.
    removed: str | None = None
    #: The number of commits since the note; 1 if there is no note.
    commits: int = 1


class Source(Protocol):
    """A table or a folder to which jobs commit rows."""

    #: True if the notes of the source are in an order; False if the set remembers names instead.
    has_order: bool

    def head(self) -> str | None:
        """Return the note for all that is committed now; None if nothing is."""

    def is_ancestor(self, earlier: str, later: str) -> bool:
        """Return True if the second note stands for all rows for which the first one does."""

    def appended(self, note: str | None, head: str, known: Callable[[list[str]], list[bool]]) -> Appended:
        """Return what was appended after a note, up to a head. known: tells which names the set remembers."""

    def everything(self, head: str) -> Appended:
        """Return all rows of a head, to build a set anew."""


def _parquet(open_file: Callable[[str], Any], files: Sequence[str]) -> Callable[[str], Iterator[Any]]:
    """Reads a column of Parquet files, a batch at a time."""

    def read(column: str) -> Iterator[Any]:
        import pyarrow.parquet as parquet

        for file in files:
            with parquet.ParquetFile(open_file(file)) as data:
                for batch in data.iter_batches(columns=[column]):
                    yield batch.column(0)

    return read


def _parsed(note: str, kind: str) -> dict[str, Any] | None:
    """The content of a note of this kind; None for any other text."""
    try:
        content = json.loads(note)
    except ValueError:
        return None
    return content if isinstance(content, dict) and kind in content else None


class Delta:
    """A Delta table, read by ``deltalake``.

    uri: the path or the URL of the table. storage_options: those of ``deltalake.DeltaTable``.

    RESTORE makes a new, higher version: only its removed files tell of it. So a removal of data between note and head
    counts as removed rows, unless it only rewrote them (OPTIMIZE).
    """

    has_order = True

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        self.uri = uri.rstrip("/")
        self.options = dict(storage_options or {})

    def _table(self, version: int | None = None) -> Any:
        from deltalake import DeltaTable

        return DeltaTable(self.uri, version=version, storage_options=self.options)

    def head(self) -> str | None:
        from deltalake.exceptions import TableNotFoundError

        try:
            table = self._table()
        except TableNotFoundError:
            return None
        return json.dumps({"delta": str(table.metadata().id), "version": table.version()})

    def is_ancestor(self, earlier: str, later: str) -> bool:
        a, b = _parsed(earlier, "delta"), _parsed(later, "delta")
        return a is not None and b is not None and a["delta"] == b["delta"] and a["version"] <= b["version"]

    def everything(self, head: str) -> Appended:
        files = sorted(self._table(json.loads(head)["version"]).file_uris())
        return Appended(_parquet(self._open, files), files)

    def appended(self, note: str | None, head: str, known: Callable[[list[str]], list[bool]]) -> Appended:
        all = self.everything(head)
        if note is None:
            return all
        before, after = _parsed(note, "delta"), json.loads(head)
        if before is None or before["delta"] != after["delta"]:
            return Appended(all.read, all.files, removed="the set follows another table")
        added: dict[str, bool] = {}
        removed = None
        commits = 0
        for version in range(before["version"] + 1, after["version"] + 1):
            try:
                log = self._read(f"_delta_log/{version:020}.json")
            except FileNotFoundError:
                why = f"the log of version {version} was cleaned up, so that nobody knows what was removed"
                return Appended(all.read, all.files, removed=why)
            has_added = False
            for line in log.splitlines():
                action = json.loads(line)
                add, remove = action.get("add"), action.get("remove")
                if add and add.get("dataChange", True):
                    has_added = added[add["path"]] = True
                if remove and remove.get("dataChange", True):
                    if added.pop(remove["path"], None) is None:
                        removed = f"version {version} has removed rows from before the note"
            commits += has_added
        from urllib.parse import unquote

        files = [path if "://" in path else f"{self.uri}/{unquote(path)}" for path in added]
        if not all_there(files, self._open):
            # Files that were compacted and then deleted: their rows are in others now.
            return Appended(all.read, all.files, removed=removed)
        return Appended(_parquet(self._open, files), files, removed=removed, commits=commits)

    def _store(self) -> Any:
        import obstore.store

        from_url: Any = obstore.store.from_url
        return from_url(self.uri, config=self.options)

    def _read(self, path: str) -> str:
        if "://" not in self.uri:
            return (Path(self.uri) / path).read_text()
        return bytes(self._store().get(path).bytes()).decode()

    def _open(self, file: str) -> Any:
        if "://" not in self.uri:
            return file
        import io

        return io.BytesIO(bytes(self._store().get(file.removeprefix(self.uri + "/")).bytes()))


def all_there(files: Sequence[str], open_file: Callable[[str], Any]) -> bool:
    """Returns True if all files can be opened."""
    for file in files:
        try:
            opened = open_file(file)
        except FileNotFoundError:
            return False
        if isinstance(opened, str) and not Path(opened).exists():
            return False
    return True


class Iceberg:
    """An Iceberg table, read by ``pyiceberg``.

    table: a function that loads the table, such as ``lambda: catalog.load_table("db.urls")``.
    """

    has_order = True

    def __init__(self, table: Callable[[], Any]) -> None:
        self._load = table
        self._table: Any = None

    def head(self) -> str | None:
        self._table = self._load()
        snapshot = self._table.current_snapshot()
        if snapshot is None:
            return None
        return json.dumps({"iceberg": str(self._table.metadata.table_uuid), "snapshot": snapshot.snapshot_id})

    def _chain(self, snapshot: int) -> list[Any]:
        """The snapshots from this one back to the oldest that is kept."""
        if all(each.snapshot_id != snapshot for each in self._table.snapshots()):
            # Another one may have committed since the table was loaded.
            self._table = self._load()
        by_id = {each.snapshot_id: each for each in self._table.snapshots()}
        chain = []
        at: int | None = snapshot
        while at is not None and at in by_id:
            chain.append(by_id[at])
            at = by_id[at].parent_snapshot_id
        return chain

    def is_ancestor(self, earlier: str, later: str) -> bool:
        a, b = _parsed(earlier, "iceberg"), _parsed(later, "iceberg")
        if a is None or b is None or a["iceberg"] != b["iceberg"]:
            return False
        return a == b or any(each.snapshot_id == a["snapshot"] for each in self._chain(b["snapshot"]))

    def everything(self, head: str) -> Appended:
        return self._scan(self._table.scan(snapshot_id=json.loads(head)["snapshot"]))

    def _scan(self, scan: Any, removed: str | None = None, commits: int = 1) -> Appended:
        files = [task.file.file_path for task in scan.plan_files()]
        io = self._table.io
        read = _parquet(lambda file: io.new_input(file).open(), files)
        return Appended(read, files, removed=removed, commits=commits)

    def appended(self, note: str | None, head: str, known: Callable[[list[str]], list[bool]]) -> Appended:
        if note is None:
            return self.everything(head)
        before, after = _parsed(note, "iceberg"), json.loads(head)
        chain = self._chain(after["snapshot"])
        ids = [each.snapshot_id for each in chain]
        all = self.everything(head)
        if before is None or before["iceberg"] != after["iceberg"]:
            return Appended(all.read, all.files, removed="the set follows another table")
        if before["snapshot"] not in ids:
            is_cut = chain and chain[-1].parent_snapshot_id is not None
            why = "was expired" if is_cut else "is no ancestor of the head: the table was rolled back"
            return Appended(all.read, all.files, removed=f"the snapshot {before['snapshot']} {why}")
        between = chain[: ids.index(before["snapshot"])]
        wrong = [each for each in between if _operation(each) not in ("append", "replace")]
        removed = f"snapshot {wrong[-1].snapshot_id} is no append" if wrong else None
        scan = self._table.incremental_append_scan(
            from_snapshot_id_exclusive=before["snapshot"], to_snapshot_id_inclusive=after["snapshot"]
        )
        return self._scan(scan, removed, len([each for each in between if _operation(each) == "append"]))


def _operation(snapshot: Any) -> str:
    """What a snapshot has done: append, replace (the same rows in other files), overwrite or delete."""
    return str(snapshot.summary.operation.value) if snapshot.summary is not None else "unknown"


class Folder:
    """A folder with one sub-folder a run, which counts when it has a file ``_SUCCESS``.

    path: the folder on this machine or on a file system that is mounted.

    A folder has no commits of its own, so two jobs must not write into one sub-folder. Sub-folders that are deleted
    later are not told: their keys stay known.
    """

    has_order = False

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if "://" in str(path):
            raise ConfigError(f"{path}: a folder of runs is on this machine, or mounted")

    def head(self) -> str | None:
        return json.dumps({"folder": self.path.name})

    def is_ancestor(self, earlier: str, later: str) -> bool:
        return earlier == later

    def _runs(self) -> list[str]:
        if not self.path.is_dir():
            return []
        return sorted(each.name for each in self.path.iterdir() if (each / "_SUCCESS").exists())

    def _of(self, runs: Sequence[str]) -> Appended:
        files = [str(file) for run in runs for file in sorted((self.path / run).glob("**/*.parquet"))]
        return Appended(_parquet(lambda file: file, files), files, names=runs, commits=len(runs))

    def everything(self, head: str) -> Appended:
        return self._of(self._runs())

    def appended(self, note: str | None, head: str, known: Callable[[list[str]], list[bool]]) -> Appended:
        runs = self._runs()
        return self._of([run for run, is_known in zip(runs, known(runs)) if not is_known])
