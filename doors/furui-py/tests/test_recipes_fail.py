"""The jobs of docs/python.md fail in the middle and are started again: no row is lost, and rows come twice only if the
job failed between its rows and its record. Also what the engines do with a question that stands in a query."""

import ast
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import duckdb
import furui
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_recipes import blocks

Row = tuple[str | None, int]

# 3,000 rows of 2,000 keys, one of which is null, and what must come of them: the first row of each key.
ROWS: list[Row] = [(None if i % 2000 == 7 else f"key {i % 2000:04}", i + 1) for i in range(3000)]
FIRST: list[Row] = ROWS[:2000]
# The rows of another day, half of them new.
LATER: list[Row] = [(f"key {i:04}", i + 1) for i in range(1000, 3000)]


class Failure(Exception):
    """The failure of a job at a step."""


class Furui:
    """The module furui for a recipe: its runs fail at a step.

    step: "asked", with the number of the question, "written" or "recorded".
    """

    LockedError = furui.LockedError

    def __init__(self, step: str = "none", question: int = 0) -> None:
        self.step, self.question, self.asked = step, question, 0

    def Run(self, path: str) -> "Failing":
        return Failing(self, furui.Run(path))


class Failing:
    def __init__(self, module: Furui, run: furui.Run) -> None:
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
        self.run.commit(note)
        if self.module.step == "recorded":
            raise Failure("recorded")


def recipe(title: str, module: object = furui) -> Any:
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
        # The number of tasks changes from day to day.
        tasks = int(day[-1]) + 1
        parts = [[item for item in documents if int(item.id) % 2000 % tasks == rank] for rank in range(tasks)]

        def read(data: object, rank: int, world_size: int) -> Iterator[Document]:
            yield from parts[rank]

        # Absolute, because fsspec remembers where a relative path led at first.
        writer = JsonlWriter(str(Path(day).absolute()), compression=None)
        logs = str(Path("logs", day).absolute())
        LocalPipelineExecutor([read, step(writer, "urls")], tasks=tasks, workers=1, logging_dir=logs).run()

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
WITHOUT_NULL = ["workers", "datatrove", "dlt", "ray"]
APPENDING = ["dlt"]


def check(engine: Engine, name: str, step: str, question: int) -> None:
    """Lets the first attempt of a job fail at a step, and checks what came of all attempts and of the next days."""
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


@pytest.mark.parametrize("step", ["asked", "written", "recorded"])
@pytest.mark.parametrize("name", ENGINES)
def test_a_job_that_fails_and_is_started_again(name: str, step: str) -> None:
    made, question = ENGINES[name]
    check(made(), name, step, question)


def keys_of(rows: list[Row]) -> list[str]:
    return [key for key, _ in rows if key]


@pytest.mark.parametrize("name", ["frame", "query"])
def test_rows_that_polars_drops_are_not_recorded(name: str) -> None:
    engine = Polars(name)
    half = [(key, n if n % 2 else -n) for key, n in FIRST]
    engine.job("day-1", half, Furui())
    assert engine.rows() == FIRST[::2]
    engine.job("day-2", FIRST, Furui())
    assert engine.rows() == FIRST[::2] + FIRST[1::2]


def test_rows_that_duckdb_drops_are_not_recorded() -> None:
    pq.write_table(table(FIRST, "url"), "events.parquet")
    job = recipe("DuckDB").job
    job("day-1", "from 'events.parquet'", "n % 2 = 1")
    assert of_files("day-1.parquet", "url") == FIRST[::2]
    job("day-2", "from 'events.parquet'")
    assert of_files("day-2.parquet", "url") == FIRST[1::2]


def test_a_query_of_polars_may_be_evaluated_in_any_way() -> None:
    pq.write_table(table(ROWS), "events.parquet", row_group_size=500)
    with furui.Run("store") as run:
        is_seen = pl.col("id").map_batches(run.has_many, return_dtype=pl.Boolean, is_elementwise=True)
        new = pl.scan_parquet("events.parquet").filter(~is_seen).unique("id", keep="first", maintain_order=True)
        for _ in range(2):
            assert new.collect().rows() == FIRST
        for step in [new.head(10), new.filter(pl.col("n") % 3 == 0), new.tail(5), new]:
            step.sink_parquet("new.parquet")
            # No key is written twice, and what is written was not recorded.
            assert set(run.add_many(pl.read_parquet("new.parquet")["id"])) == {True}
            run.commit()
        assert len(new.collect()) == 0 and all(run.has_many(pl.read_parquet("events.parquet")["id"]))


def test_what_polars_asks_within_a_query() -> None:
    """The table in docs/python.md of what a question that records is asked."""
    pq.write_table(table([(f"key {i:04}", i) for i in range(3000)]), "events.parquet", row_group_size=500)
    scan = pl.scan_parquet("events.parquet")

    def asked(is_elementwise: bool, *steps: Callable[[pl.LazyFrame, pl.Expr], pl.DataFrame]) -> tuple[int, list[int]]:
        """The number of rows that came out of the last step, and the lengths of the questions of all."""
        lengths = []
        seen = furui.Seen()

        def add_many(keys: pl.Series) -> pl.Series:
            lengths.append(len(keys))
            answer: pl.Series = seen.add_many(keys)
            return answer

        is_new = pl.col("id").map_batches(add_many, return_dtype=pl.Boolean, is_elementwise=is_elementwise)
        for step in steps:
            frame = step(scan, is_new)
        return len(frame), lengths

    engines: list[Literal["in-memory", "streaming"]] = ["in-memory", "streaming"]
    for engine in engines:
        assert asked(False, lambda rows, is_new: rows.filter(is_new).collect(engine=engine)) == (3000, [3000])
        out, lengths = asked(True, lambda rows, is_new: rows.filter(is_new).collect(engine=engine))
        # The least key of each of the six row groups, and null, come before the rows.
        assert out == 2994 and lengths[0] == 6 and sum(lengths) > 3000
    out, lengths = asked(False, lambda rows, is_new: rows.filter(is_new).head(10).collect())
    assert out == 10 and sum(lengths) == 3000
    out, lengths = asked(False, lambda rows, is_new: rows.filter(is_new).filter(pl.col("n") % 2 == 0).collect())
    assert out == 1500 and sum(lengths) == 3000
    assert asked(False, lambda rows, is_new: rows.with_columns(new=is_new).select("n").collect()) == (3000, [])
    twice: Callable[[pl.LazyFrame, pl.Expr], pl.DataFrame] = lambda rows, is_new: rows.filter(is_new).collect()
    assert asked(False, twice, twice) == (0, [3000, 3000])


def test_a_query_of_duckdb_may_be_evaluated_in_any_way() -> None:
    pq.write_table(table(ROWS, "url"), "events.parquet", row_group_size=500)
    db: Any
    with furui.Run("store") as run, duckdb.connect() as db:
        db.create_function(
            "is_seen", lambda urls: run.has_many(urls), ["VARCHAR"], "BOOLEAN", type="arrow", null_handling="special"
        )
        new = "select distinct on (url) * from 'events.parquet' where not is_seen(url)"
        relation = db.sql(new)
        assert len(str(relation)) > 0 and len(relation.fetchall()) == 2000
        for rest in ["order by n limit 10", "and n % 3 = 0 order by n", "order by n"]:
            assert db.sql(f"select count(*) from ({new} {rest})").fetchall() != [(0,)]
            db.execute(f"copy ({new} {rest}) to 'new.parquet'")
            # No key is written twice, and what is written was not recorded.
            assert set(run.add_many(pq.read_table("new.parquet")["url"]).to_pylist()) == {True}
            run.commit()
        assert db.sql(new).fetchall() == [] and None in run


def test_what_duckdb_asks_within_a_query() -> None:
    """What docs/python.md says of a question that records."""
    pq.write_table(table(FIRST * 2, "url"), "events.parquet")
    db: Any
    with duckdb.connect() as db:
        asked: list[int] = []

        def is_new(keys: pa.Array) -> pa.Array:
            asked.append(len(keys))
            return pa.array([True] * len(keys))

        for name, null_handling in [("is_new", "special"), ("is_new_or_null", "default")]:
            db.create_function(
                name, is_new, ["VARCHAR"], "BOOLEAN", type="arrow", side_effects=True, null_handling=null_handling
            )
        assert len(db.sql("from 'events.parquet' where is_new(url) limit 10").fetchall()) == 10
        assert sum(asked) >= 2048
        for condition in ["is_new(url) and n % 2 = 0", "n % 2 = 0 and is_new(url)"]:
            asked.clear()
            assert len(db.sql(f"from 'events.parquet' where {condition}").fetchall()) == 2000
            assert sum(asked) == 4000, condition
        asked.clear()
        assert len(db.sql("from 'events.parquet' where is_new_or_null(url)").fetchall()) == 3998
        assert sum(asked) == 3998


def test_documents_in_the_buffers_of_a_writer_are_not_recorded(tmp_path: Path) -> None:
    from datatrove.data import Document
    from datatrove.pipeline.writers import JsonlWriter

    class FullDisk(JsonlWriter):  # type: ignore[misc]
        def close(self) -> None:
            raise Failure("no space")

    documents = [Document(text="text", id=str(i), metadata={"url": f"key {i % 5}"}) for i in range(10)]
    step = recipe("datatrove").WriteNew
    with pytest.raises(Failure):
        list(step(FullDisk(str(tmp_path / "full"), compression=None), "urls").run(iter(documents)))
    list(step(JsonlWriter(str(tmp_path / "out"), compression=None), "urls").run(iter(documents)))
    assert len((tmp_path / "out" / "00000.jsonl").read_text().splitlines()) == 5


def test_a_load_of_dlt_that_failed_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import dlt

    engine = Dlt()

    def load(*_: object, **__: object) -> None:
        raise Failure("load")

    with monkeypatch.context() as patch, pytest.raises(Failure):
        patch.setattr(dlt.Pipeline, "load", load)
        engine.job("", ROWS, Furui())
    assert engine.pipeline().has_pending_data
    for _ in range(2):
        engine.job("", ROWS, Furui())
    assert sorted(keys_of(engine.rows())) == sorted(keys_of(FIRST))


def test_answers_of_datasets_are_kept_in_files() -> None:
    from datasets import Dataset

    pq.write_table(table(ROWS, "url"), "events.parquet")
    events = Dataset.from_parquet("events.parquet", cache_dir="cache")
    store = str(Path("store").absolute())

    def is_new(batch: dict[str, list[str]]) -> list[bool]:
        with furui.Run(store) as run:
            return [not is_seen for is_seen in run.has_many(batch["url"])]

    assert len(events.filter(is_new, batched=True)) == 3000
    with furui.Run(store) as run:
        run.add_many(events.with_format("arrow")["url"])
        run.commit()
    assert len(events.filter(is_new, batched=True)) == 3000  # of which none is new
    assert len(events.filter(is_new, batched=True, load_from_cache_file=False)) == 0
    # The recipe asks for the rows of the dataset, and not for those of the table behind it.
    recipe("datasets").job("day-1", events.select(range(2000, 3000)))
    assert of_files("day-1.parquet", "url") == ROWS[2000:]


class Ray(Engine):
    """Four tasks, which fail after they have asked when they are run for the first time; on the first day, one worker
    dies."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def job(self, day: str, rows: list[Row], module: Furui) -> None:
        import ray

        keys = keys_of(rows)
        made = recipe("Ray")
        ask = made.unseen._function

        def fails_once(urls: list[str], store: str, marker: str = str(self.path / day)) -> list[str]:
            answer: list[str] = ask(urls, store)
            try:
                open(f"{marker}-{urls[0]}", "x").close()
            except FileExistsError:
                return answer
            if marker.endswith("day-1") and urls[0] == "key 0000":
                os._exit(1)
            raise RuntimeError("the first attempt fails")

        # Ray's workers cannot import these modules.
        cloudpickle: Any = ray.cloudpickle
        for unknown in [made, sys.modules[__name__]]:
            cloudpickle.register_pickle_by_value(unknown)
        driver = recipe("Ray", module)
        driver.unseen = ray.remote(max_retries=3, retry_exceptions=True)(fails_once)
        parts = [keys[start : start + 750] for start in range(0, len(keys), 750)]
        driver.job(day, parts, str(self.path / "store"))

    def rows(self) -> list[Row]:
        return of_texts("day-*.txt")


def test_a_job_of_ray_that_fails_and_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test, because Ray takes long to start."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for step in ["asked", "written", "recorded"]:
            folder = tmp_path / step
            folder.mkdir()
            monkeypatch.chdir(folder)
            check(Ray(folder), "ray", step, 2)
        check_that_an_actor_takes_keys_of_a_failed_attempt(tmp_path)
    finally:
        ray.shutdown()


def check_that_an_actor_takes_keys_of_a_failed_attempt(tmp_path: Path) -> None:
    """The wrong way that docs/python.md names."""
    import ray

    store = str(tmp_path / "store")

    class Shard:
        def __init__(self) -> None:
            self.run = furui.Run(store)

        def add_many(self, keys: list[str]) -> list[bool]:
            return self.run.add_many(keys)

    @ray.remote(max_retries=1, retry_exceptions=True)
    def new(keys: list[str], shard: Any, marker: str) -> list[str]:
        answers = ray.get(shard.add_many.remote(keys))
        try:
            open(marker, "x").close()
        except FileExistsError:
            return [key for key, is_new in zip(keys, answers) if is_new]
        raise RuntimeError("the first attempt fails")

    found = ray.get(new.remote(["a", "b"], ray.remote(Shard).remote(), str(tmp_path / "marker")))
    assert found == []
