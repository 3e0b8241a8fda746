"""Real tables, to which jobs commit rows."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
from furui.sources import Delta, Iceberg


def keys(start: int, stop: int) -> list[str]:
    return [f"key {number}" for number in range(start, stop)]


def rows(start: int, stop: int) -> pa.Table:
    return pa.table({"url": keys(start, stop), "n": list(range(start, stop))})


class DeltaTable:
    """A Delta table in a folder."""

    def __init__(self, path: Path) -> None:
        self.uri = str(path / "delta")
        self.source = Delta(self.uri)

    def append(self, start: int, stop: int) -> None:
        self.write(rows(start, stop))

    def write(self, rows: pa.Table) -> None:
        from deltalake import write_deltalake

        write_deltalake(self.uri, rows, mode="append")

    def urls(self) -> list[str]:
        from deltalake import DeltaTable as Table

        found: list[str] = Table(self.uri).to_pyarrow_table(columns=["url"])["url"].to_pylist()
        return found

    def roll_back(self) -> None:
        from deltalake import DeltaTable as Table

        table = Table(self.uri)
        table.restore(table.version() - 1)

    def remove(self) -> None:
        from deltalake import DeltaTable as Table

        Table(self.uri).delete("n = 3")

    def compact(self) -> None:
        from deltalake import DeltaTable as Table

        table = Table(self.uri)
        table.optimize.compact()
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    def make_anew(self) -> None:
        shutil.rmtree(self.uri)
        self.append(0, 10)


class IcebergTable:
    """An Iceberg table in a folder, with a catalog in SQLite."""

    def __init__(self, path: Path) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        (path / "warehouse").mkdir(exist_ok=True)
        catalog = SqlCatalog("default", uri=f"sqlite:///{path}/catalog.db", warehouse=f"file://{path}/warehouse")
        if not catalog.namespace_exists("db"):
            catalog.create_namespace("db")
            catalog.create_table("db.urls", rows(0, 1).schema)
        self.catalog = catalog
        self.source = Iceberg(self.table)

    def table(self) -> Any:
        return self.catalog.load_table("db.urls")

    def append(self, start: int, stop: int) -> None:
        self.write(rows(start, stop))

    def write(self, rows: pa.Table) -> None:
        self.table().append(rows)

    def urls(self) -> list[str]:
        found: list[str] = self.table().scan(selected_fields=("url",)).to_arrow()["url"].to_pylist()
        return found

    def roll_back(self) -> None:
        table = self.table()
        with table.manage_snapshots() as manage:
            manage.rollback_to_snapshot(table.current_snapshot().parent_snapshot_id)

    def remove(self) -> None:
        self.table().delete("n = 3")

    def make_anew(self) -> None:
        self.catalog.drop_table("db.urls")
        self.catalog.create_table("db.urls", rows(0, 1).schema)
        self.append(0, 10)
