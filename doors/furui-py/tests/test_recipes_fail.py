"""The jobs of docs/python.md fail in the middle and are started again: no row is lost, and rows come twice only if the
job failed between its rows and its record. Also what the engines do with a question that stands in a query."""

import ast
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import furui
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_recipes import blocks

Row = tuple[str | None, int]
Job = Callable[[str, list[Row], Any], None]

# 3,000 rows of 2,000 keys, one of which is null, and what must come of them: the first row of each key.
ROWS: list[Row] = [(None if i % 2000 == 7 else f"key {i % 2000:04}", i + 1) for i in range(3000)]
FIRST: list[Row] = ROWS[:2000]
# The rows of another day, half of them new.
LATER: list[Row] = [(f"key {i:04}", i + 1) for i in range(1000, 3000)]


class Failure(Exception):
    """The failure of a job at a step."""


class Furui:
    """The module furui for a recipe: its runs fail at a step, or are sets that record at once.

    step: "asked", with the number of the question, "written" or "recorded".
    """

    def __init__(self, step: str = "none", question: int = 0, opened: type[furui.Seen] = furui.Run) -> None:
        self.step, self.question, self.opened, self.asked = step, question, opened, 0

    def Run(self, path: str) -> "Failing":
        return Failing(self, self.opened(path))


class Failing:
    def __init__(self, module: Furui, run: furui.Seen) -> None:
        self.module, self.run = module, run

    def __enter__(self) -> "Failing":
        return self

    def __exit__(self, *error: object) -> None:
        self.run.close()

    @property
    def note(self) -> str | None:
        return self.run.note

    def ask(self, method: Callable[[Any], Any], keys: Any) -> Any:
        answer = method(keys)
        self.module.asked += 1
        if self.module.step == "asked" and self.module.asked == self.module.question:
            raise Failure("asked")
        return answer

    def add(self, key: str) -> Any:
        return self.ask(self.run.add, key)

    def add_many(self, keys: Any) -> Any:
        return self.ask(self.run.add_many, keys)

    def has_many(self, keys: Any) -> Any:
        return self.ask(self.run.has_many, keys)

    def commit(self, note: str | None = None) -> None:
        if self.module.step == "written":
            raise Failure("written")
        if isinstance(self.run, furui.Run):
            self.run.commit(note)
        if self.module.step == "recorded":
            raise Failure("recorded")


def recipe(title: str, module: object = furui) -> types.ModuleType:
    """What the recipe in a section of docs/python.md imports and defines, without what it then does."""
    text = next(block for name, block in blocks("python") if name.endswith(title))
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, kept)]
    made = types.ModuleType("recipe")
    sys.modules["recipe"] = made  # dlt looks for the module of a resource
    exec(compile(tree, title, "exec"), made.__dict__)
    made.__dict__["furui"] = module
    return made


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))


class Engine:
    """A job of a recipe with its engine, and the rows that have come to their place."""

    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        raise NotImplementedError

    def rows(self) -> list[Row]:
        raise NotImplementedError


def table(rows: list[Row], name: str = "id") -> pa.Table:
    return pa.table({name: pa.array([key for key, _ in rows], pa.string()), "n": [n for _, n in rows]})


def of_files(pattern: str, name: str = "id") -> list[Row]:
    return [
        (row[name], row["n"]) for path in sorted(Path().glob(pattern)) for row in pq.read_table(path).to_pylist()
    ]


def of_texts(pattern: str) -> list[Row]:
    """The rows of files in which each line is a key."""
    numbers = {key: n for key, n in reversed(ROWS + LATER)}
    return [(key, numbers[key]) for path in sorted(Path().glob(pattern)) for key in path.read_text().splitlines()]


class Polars(Engine):
    def __init__(self, name: str) -> None:
        self.name = name

    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        pq.write_table(table(rows), "events.parquet", row_group_size=500)
        getattr(recipe("Polars", module), self.name)(day, "events.parquet")

    def rows(self) -> list[Row]:
        if self.name == "batches":
            return [row for path in sorted(Path().glob("*.csv")) for row in pl.read_csv(path).rows()]
        return of_files(f"day-*-{self.name}.parquet")


class Pandas(Engine):
    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        recipe("pandas", module).job(day, table(rows).to_pandas())

    def rows(self) -> list[Row]:
        frames = [pd.read_csv(path) for path in sorted(Path().glob("*.csv"))]
        return [(None if pd.isna(key) else key, n) for frame in frames for key, n in frame.itertuples(index=False)]


class DuckDB(Engine):
    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        pq.write_table(table(rows, "url"), "events.parquet", row_group_size=500)
        recipe("DuckDB", module).job(day, "from 'events.parquet'")

    def rows(self) -> list[Row]:
        return of_files("day-*.parquet", "url")


class Datasets(Engine):
    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        from datasets import Dataset

        recipe("datasets", module).job(day, Dataset(table(rows, "url")))

    def rows(self) -> list[Row]:
        return of_files("day-*.parquet", "url")


class Workers(Engine):
    """The workers of a pool, which fail one after the other, as their own jobs."""

    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        keys = [key for key, _ in rows if key]
        work = recipe("processes", module).work
        for number in range(2):
            work(number, [key for key in keys if int(key[4:]) % 2 == number], day)

    def rows(self) -> list[Row]:
        return of_texts("day-*.txt")


class Datatrove(Engine):
    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        from datatrove.data import Document
        from datatrove.executor import LocalPipelineExecutor
        from datatrove.pipeline.writers import JsonlWriter

        step = recipe("datatrove", module).WriteNew
        documents = [Document(text="text", id=str(n), metadata={"url": key}) for key, n in rows if key]
        parts = [[document for document in documents if int(document.id) % 2 == rank] for rank in range(2)]

        def read(data: object, rank: int, world_size: int) -> Iterator[Document]:
            yield from parts[rank]

        # Absolute, because fsspec remembers where a relative path led at first.
        writer = JsonlWriter(str(Path(day).absolute()), compression=None)
        logs = str(Path("logs", day).absolute())
        LocalPipelineExecutor([read, step(writer, "urls", day)], tasks=2, workers=1, logging_dir=logs).run()

    def rows(self) -> list[Row]:
        paths = sorted(Path().glob("day-*/*.jsonl"))
        rows = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
        return [(row["metadata"]["url"], int(row["id"])) for row in rows]


class Dlt(Engine):
    def pipeline(self) -> Any:
        import dlt

        duckdb = dlt.destinations.duckdb("events.duckdb")
        return dlt.pipeline("events", pipelines_dir="dlt", destination=duckdb, dataset_name="raw")

    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        keys = [key for key, _ in rows if key]
        pages = [keys[start : start + 500] for start in range(0, len(keys), 500)]
        recipe("dlt", module).job(self.pipeline(), pages)

    def rows(self) -> list[Row]:
        numbers = {key: n for key, n in reversed(ROWS + LATER)}
        with duckdb.connect("events.duckdb") as db:
            return [(key, numbers[key]) for (key,) in db.sql("select id from raw.events").fetchall()]


# Each engine, and the question at which its job fails.
ENGINES: dict[str, tuple[Callable[[], Engine], int]] = {
    "polars-frame": (lambda: Polars("frame"), 1),
    "polars-batches": (lambda: Polars("batches"), 3),
    # The first questions are about statistics, and Polars goes on after their errors.
    "polars-query": (lambda: Polars("query"), 15),
    "pandas": (Pandas, 1),
    "duckdb": (DuckDB, 2),
    "datasets": (Datasets, 1),
    "workers": (Workers, 2),
    "datatrove": (Datatrove, 1600),
    "dlt": (Dlt, 3),
}
# Engines whose jobs know no null, and those that do not replace the rows of an earlier attempt.
WITHOUT_NULL = ["workers", "datatrove", "dlt"]
APPENDING = ["dlt"]


@pytest.mark.parametrize("step", ["asked", "written", "recorded"])
@pytest.mark.parametrize("name", ENGINES)
def test_a_job_that_fails_and_is_started_again(name: str, step: str) -> None:
    made, question = ENGINES[name]
    engine = made()
    first = [row for row in FIRST if row[0] or name not in WITHOUT_NULL]
    with pytest.raises(Exception, match=step):
        engine.job("day-1", ROWS, Furui(step, question))
    engine.job("day-1", ROWS, Furui())
    # A third attempt has nothing to do, and the next day there is nothing new.
    engine.job("day-1", ROWS, Furui())
    engine.job("day-2", ROWS, Furui())
    if name in APPENDING and step == "written":
        assert sorted(engine.rows()) == sorted(first * 2)
        return
    assert sorted(engine.rows(), key=str) == sorted(first, key=str)
    engine.job("day-3", LATER, Furui())
    assert sorted(engine.rows(), key=str) == sorted(first + LATER[1000:], key=str)
