"""Spark, for real: tasks that fail, frames that are evaluated twice, other partitions, drivers that die, two at once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import furui
import furui.cloud as cloud
import furui.spark
import pytest
from conftest import Service
from furui.sources import Folder

pyspark = pytest.importorskip("pyspark", reason="SKIPPED: there is no pyspark: pip install pyspark")
if shutil.which("java") is None:
    pytest.skip("SKIPPED: there is no Java, which Spark needs", allow_module_level=True)

pytestmark = pytest.mark.xdist_group("spark")


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


@pytest.fixture
def url(service: Service, request: pytest.FixtureRequest) -> str:
    url = service.new(request)
    cloud.create(url, shards=4, **service.options)
    return url


def days(spark: Any, first: int, rows: int, distinct: int, partitions: int) -> Any:
    """Rows whose keys come from a range that begins at `first`."""
    from pyspark.sql import functions as f

    numbers = spark.range(0, rows, numPartitions=partitions)
    return numbers.select(f.concat(f.lit("key "), (f.col("id") % distinct + first).cast("string")).alias("url"), "id")


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


def write(rows: Any, folder: Path, run: str) -> None:
    rows.write.mode("overwrite").parquet(str(folder / f"run={run}"))


def table(spark: Any, folder: Path) -> list[str]:
    return [row["url"] for row in spark.read.parquet(f"{folder}/*").select("url").collect()]


def test_no_row_is_lost_or_comes_twice(spark: Any, url: str, service: Service, tmp_path: Path) -> None:
    folder, cache = tmp_path / "table", tmp_path / "cache"
    options = {"cache": cache, **service.options}
    for day, (first, partitions, right) in enumerate([(0, 4, 150_000), (0, 5, 0), (75_000, 3, 75_000)]):
        rows = failing_once(days(spark, first, 200_000, 150_000, partitions), tmp_path / f"flag {day}")
        new = failing_once(furui.spark.drop_seen(rows, "url", url, **options), tmp_path / f"flag {day} after")
        # An action before the write changes nothing.
        assert new.count() == right
        write(new, folder, str(day))
        assert spark.read.parquet(str(folder / f"run={day}")).count() == right
        for _ in range(2):
            furui.spark.record(spark, url, Folder(folder), "url", **service.options)
    found = table(spark, folder)
    assert len(found) == len(set(found)) == 225_000
    seen = cloud.open(url, **service.options)
    assert all(seen.has_many(found)) and len(seen) == 225_000


JOB = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import furui.spark, furui._bucket
from furui.sources import Folder
from test_spark import days, session, write
_, _, folder, url, options, step, run = sys.argv
options, folder = json.loads(options), Path(folder)
def reach(name):
    if name == step:
        os.kill(os.getpid(), signal.SIGKILL)
spark = session(folder.parent)
new = furui.spark.drop_seen(days(spark, 0, 20_000, 15_000, 3), "url", url, **options)
reach("asked")
write(new, folder, run)
reach("written")
swap = furui._bucket.Bucket._swap
def slow(*arguments):
    reach("put")
    done = swap(*arguments)
    reach("recorded")
    return done
furui._bucket.Bucket._swap = slow
furui.spark.record(spark, url, Folder(folder), "url", **options)
"""


@pytest.mark.parametrize("step", ["asked", "written", "put", "recorded"])
def test_a_driver_that_is_killed_is_repaired(
    spark: Any, url: str, service: Service, tmp_path: Path, step: str
) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    tests, options = str(Path(__file__).parent), json.dumps(service.options)
    for run, end in [("killed", step), ("again", "")]:
        done = subprocess.run(
            [sys.executable, "-c", JOB, tests, str(folder), url, options, end, run],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.returncode == (-signal.SIGKILL if end else 0), done.stderr[-3000:]
        if end:
            # A job begins with what the last one has left.
            furui.record(url, Folder(folder), "url", **service.options)
    found = table(spark, folder)
    assert len(found) == len(set(found)) == 15_000
    assert all(cloud.open(url, **service.options).has_many(found))


def test_two_drivers_at_once(spark: Any, url: str, service: Service, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    a = furui.spark.drop_seen(days(spark, 0, 20_000, 10_000, 3), "url", url, **service.options)
    b = furui.spark.drop_seen(days(spark, 5000, 20_000, 10_000, 3), "url", url, **service.options)
    write(a, folder, "a")
    write(b, folder, "b")
    furui.spark.record(spark, url, Folder(folder), "url", **service.options)
    furui.spark.record(spark, url, Folder(folder), "url", **service.options)
    found = table(spark, folder)
    # Both have asked before either had committed: 5,000 rows come twice, and all are in the set.
    assert (len(found), len(set(found))) == (20_000, 15_000)
    assert all(cloud.open(url, **service.options).has_many(found))
    assert cloud.merge(url, all=True, **service.options) and len(cloud.open(url, **service.options)) == 15_000
