"""A set catches up with what was committed to Delta and Iceberg tables and to folders, in a directory and in a bucket."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import furui
import furui.cloud as cloud
import pyarrow.parquet as parquet
import pytest
from conftest import Service
from furui.sources import Folder, RemovedError, Source
from tables import DeltaTable, IcebergTable, keys, rows


class Store:
    """A set in a directory or in a bucket."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self.url, self.options = url, options

    def record(self, source: Source, **more: Any) -> str | None:
        return furui.record(self.url, source, "url", **more, **self.options)

    def open(self) -> furui.Seen:
        return furui.Seen(self.url, read_only=True) if not self.options else cloud.open(self.url, **self.options)

    def knows(self, start: int, stop: int) -> list[bool]:
        return list(self.open().has_many(keys(start, stop)))


@pytest.fixture(params=["directory", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path, service: Service) -> Store:
    if request.param == "directory":
        return Store(str(tmp_path / "set"), {})
    url = service.new(request)
    cloud.create(url, shards=2, **service.options)
    return Store(url, service.options)


@pytest.fixture(params=[DeltaTable, IcebergTable])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    kind: Callable[[Path], Any] = request.param
    return kind(tmp_path)


def test_everything_from_the_note_to_the_head_is_recorded(store: Store, table: Any) -> None:
    if isinstance(table, IcebergTable):
        # A table without a snapshot.
        assert store.record(table.source) is None
    table.append(0, 1000)
    first = store.record(table.source)
    assert first is not None and store.knows(0, 1010) == [True] * 1000 + [False] * 10
    # Two jobs have committed and died, and one of them is at work again.
    table.append(1000, 2000)
    table.append(1500, 3000)
    second = store.record(table.source)
    assert second != first and store.knows(0, 3010) == [True] * 3000 + [False] * 10
    before = len(store.open())
    assert store.record(table.source) == second
    assert len(store.open()) == before and store.open().note == second


def test_a_note_never_moves_back(store: Store, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table.append(0, 100)
    store.record(table.source)
    table.append(100, 200)
    old = table.source.head()
    appended = table.source.appended

    def slow(*arguments: Any) -> Any:
        """Another driver commits and records while this one reads."""
        monkeypatch.setattr(table.source, "appended", appended)
        found = appended(*arguments)
        table.append(200, 300)
        assert store.record(type(table.source)(**again(table))) != old
        return found

    monkeypatch.setattr(table.source, "appended", slow)
    assert store.record(table.source) == table.source.head()
    assert store.knows(0, 310) == [True] * 300 + [False] * 10


def again(table: Any) -> dict[str, Any]:
    return {"uri": table.uri} if isinstance(table, DeltaTable) else {"table": table.table}


@pytest.mark.parametrize("what", ["roll_back", "remove", "make_anew"])
def test_what_was_removed_is_told(store: Store, table: Any, what: str) -> None:
    table.append(0, 10)
    table.append(10, 20)
    store.record(table.source)
    getattr(table, what)()
    for _ in range(2):
        with pytest.raises(RemovedError, match="rebuild"):
            store.record(table.source)
        # It is still told after further commits.
        table.append(30, 40)
    if store.options:
        store.record(table.source, removed="rebuild")
        expected = [n < 10 and (what != "remove" or n != 3) or what == "remove" and 3 < n < 20 for n in range(20)]
        assert store.knows(0, 20) == expected and all(store.knows(30, 40))
    else:
        with pytest.raises(furui.ConfigError, match="remove the directory"):
            store.record(table.source, removed="rebuild")
        store.record(table.source, removed="keep")
        assert all(store.knows(0, 20)) and all(store.knows(30, 40))
    table.append(40, 50)
    store.record(table.source)
    assert all(store.knows(30, 50))


def test_rows_that_move_into_other_files_are_no_news(store: Store, tmp_path: Path) -> None:
    table = DeltaTable(tmp_path)
    for start in range(0, 40, 10):
        table.append(start, start + 10)
    store.record(table.source)
    table.append(40, 50)
    table.compact()
    store.record(table.source)
    assert store.knows(0, 60) == [True] * 50 + [False] * 10
    # The log up to the note is gone: nobody knows what has happened since.
    table.append(50, 60)
    table.append(60, 70)
    log = sorted(Path(table.uri, "_delta_log").glob("*.json"))
    from deltalake import DeltaTable as Table

    Table(table.uri).create_checkpoint()
    log[-2].unlink()
    with pytest.raises(RemovedError, match="cleaned up"):
        store.record(table.source)


def test_sub_folders_count_when_they_are_whole(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"

    def write(run: str, start: int, stop: int) -> None:
        (folder / run).mkdir(parents=True)
        parquet.write_table(rows(start, stop), folder / run / "part-0.parquet")

    source = Folder(folder)
    store.record(source)
    write("run=a", 0, 100)
    write("run=b", 100, 200)
    (folder / "run=a" / "_SUCCESS").touch()
    for _ in range(2):
        store.record(source)
        assert store.knows(0, 200) == [True] * 100 + [False] * 100
    (folder / "run=b" / "_SUCCESS").touch()
    # What is read is remembered, so files that are gone are not missed.
    (folder / "run=a" / "part-0.parquet").unlink()
    store.record(source)
    assert store.knows(0, 210) == [True] * 200 + [False] * 10
