"""Spark, for real: tasks that fail, frames that are evaluated twice, other partitions, drivers that die, two at once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import furui
import furui.cloud as cloud
import furui.spark
import pyarrow.parquet as parquet
import pytest
from conftest import Service
from furui.sources import Folder, RemovedError
from tables import DeltaTable, IcebergTable

pyspark = pytest.importorskip("pyspark", reason="SKIPPED: there is no pyspark: pip install pyspark")
if shutil.which("java") is None:
    pytest.skip("SKIPPED: there is no Java, which Spark needs", allow_module_level=True)

def session(tmp_path: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder: Any = SparkSession.builder
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "4",
        "spark.local.dir": str(tmp_path),
        "spark.speculation": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.master("local[2,4]").getOrCreate()


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = session(tmp_path_factory.mktemp("spark"))
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def days(spark: Any, first: int, rows: int, distinct: int, partitions: int) -> Any:
    """Rows whose keys come from a range that begins at `first`."""
    from pyspark.sql import functions as f

    numbers = spark.range(0, rows, numPartitions=partitions)
    key = f.concat(f.lit("key "), (f.col("id") % distinct + first).cast("string"))
    return numbers.select(key.alias("url"), f.col("id").alias("n"))


def failing_once(rows: Any, flag: Path) -> Any:
    """The same rows; the first task that comes behind its first batch fails."""

    def fail(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            try:
                flag.touch(exist_ok=False)
            except FileExistsError:
                continue
            raise RuntimeError("a task fails once")

    return rows.mapInArrow(fail, rows.schema)


class FolderTable:
    """A folder with one sub-folder a run, which Spark writes itself. The other tables are written by the driver."""

    def __init__(self, path: Path) -> None:
        self.path = path / "table"
        self.source = Folder(self.path)

    def urls(self) -> list[str]:
        return [url for file in self.path.glob("*/*.parquet") for url in parquet.read_table(file)["url"].to_pylist()]


Table = FolderTable | DeltaTable | IcebergTable
TABLES: dict[str, Callable[[Path], Table]] = {"folder": FolderTable, "delta": DeltaTable, "iceberg": IcebergTable}


def write(table: Table, rows: Any, run: str) -> None:
    if isinstance(table, FolderTable):
        rows.write.mode("overwrite").parquet(str(table.path / f"run={run}"))
    else:
        table.write(rows.toArrow())


@pytest.fixture(params=list(TABLES))
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    return TABLES[request.param](tmp_path)


def test_no_row_is_lost_or_comes_twice(spark: Any, url: str, service: Service, tmp_path: Path) -> None:
    table = FolderTable(tmp_path)
    options = {"cache": tmp_path / "cache", **service.options}
    for day, (first, partitions, right) in enumerate([(0, 4, 150_000), (0, 5, 0), (75_000, 3, 75_000)]):
        rows = failing_once(days(spark, first, 200_000, 150_000, partitions), tmp_path / f"flag {day}")
        new = failing_once(furui.spark.drop_seen(rows, "url", url, **options), tmp_path / f"flag {day} after")
        # An action before the write changes nothing.
        assert new.count() == right
        write(table, new, str(day))
        assert spark.read.parquet(str(table.path / f"run={day}")).count() == right
        for _ in range(2):
            furui.spark.record(spark, url, table.source, "url", **service.options)
    found = table.urls()
    assert len(found) == len(set(found)) == 225_000
    seen = cloud.open(url, **service.options)
    assert all(seen.has_many(found)) and len(seen) == 225_000


JOB = """
import json, os, signal, sys
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
import furui.spark, furui._bucket
from test_spark import TABLES, days, session, write
_, _, _, kind, place, url, options, step = sys.argv
options, table = json.loads(options), TABLES[kind](Path(place))
def reach(name):
    if name == step:
        os.kill(os.getpid(), signal.SIGKILL)
spark = session(Path(place))
new = furui.spark.drop_seen(days(spark, 0, 20_000, 15_000, 3), "url", url, source=table.source, **options)
reach("asked")
write(table, new, "killed")
reach("written")
swap = furui._bucket.Bucket._swap
def slow(*arguments):
    reach("put")
    done = swap(*arguments)
    reach("recorded")
    return done
furui._bucket.Bucket._swap = slow
furui.spark.record(spark, url, table.source, "url", **options)
"""

#: All steps with a folder; with the tables, those that come after their own commit.
KILLED = [("folder", "asked"), ("folder", "written"), ("folder", "put"), ("folder", "recorded")]
KILLED += [("delta", "written"), ("delta", "put"), ("iceberg", "written"), ("iceberg", "recorded")]


@pytest.mark.parametrize(("kind", "step"), KILLED)
def test_a_driver_that_is_killed_is_repaired(
    spark: Any, url: str, service: Service, tmp_path: Path, kind: str, step: str
) -> None:
    here = Path(__file__).parent
    arguments = [str(here), str(here.parent), kind, str(tmp_path), url, json.dumps(service.options), step]
    done = subprocess.run(
        [sys.executable, "-c", JOB, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    # The same job again begins with what the last one has left.
    table = TABLES[kind](tmp_path)
    furui.record(url, table.source, "url", **service.options)
    new = furui.spark.drop_seen(
        days(spark, 0, 20_000, 15_000, 3), "url", url, source=table.source, **service.options
    )
    write(table, new, "again")
    furui.spark.record(spark, url, table.source, "url", **service.options)
    found = table.urls()
    assert len(found) == len(set(found)) == 15_000
    assert all(cloud.open(url, **service.options).has_many(found))


def test_two_drivers_at_once(
    spark: Any, table: Table, url: str, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    write(table, days(spark, 90_000, 10, 10, 1), "first")
    furui.spark.record(spark, url, table.source, "url", **service.options)
    a = furui.spark.drop_seen(days(spark, 0, 20_000, 10_000, 3), "url", url, **service.options)
    b = furui.spark.drop_seen(days(spark, 5000, 20_000, 10_000, 3), "url", url, **service.options)
    write(table, a, "a")
    write(table, b, "b")
    for _ in range(2):
        furui.spark.record(spark, url, table.source, "url", **service.options)
    found = table.urls()
    # Both have asked before either had committed: 5,000 rows come twice, and all are in the set.
    assert (len(found), len(set(found))) == (20_010, 15_010)
    assert all(cloud.open(url, **service.options).has_many(found))
    # This is told, once.
    assert [each.getMessage() for each in caplog.records if each.name == "furui"] == [
        f"{url}: 5000 of 20000 rows since the note have a key that another row has, too"
    ]
    assert cloud.merge(url, all=True, **service.options) and len(cloud.open(url, **service.options)) == 15_010


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_table_that_is_rolled_back_is_told_and_the_set_made_anew(
    spark: Any, url: str, service: Service, tmp_path: Path, kind: str
) -> None:
    table = TABLES[kind](tmp_path)
    assert not isinstance(table, FolderTable)

    def job(first: int, removed: Any = "error") -> None:
        new = furui.spark.drop_seen(
            days(spark, first, 2000, 1000, 3), "url", url, source=table.source, removed=removed, **service.options
        )
        write(table, new, "")
        furui.spark.record(spark, url, table.source, "url", removed=removed, **service.options)

    job(0)
    job(1000)
    table.roll_back()
    # The job is told before it drops rows that are no more, and another one that ran meanwhile after it has written.
    with pytest.raises(RemovedError, match="rebuild"):
        job(1000)
    with pytest.raises(RemovedError, match="rebuild"):
        furui.spark.record(spark, url, table.source, "url", **service.options)
    furui.spark.record(spark, url, table.source, "url", removed="rebuild", **service.options)
    assert len(cloud.open(url, **service.options)) == 1000
    job(1000)
    found = table.urls()
    assert len(found) == len(set(found)) == 2000
    assert all(cloud.open(url, **service.options).has_many(found))
