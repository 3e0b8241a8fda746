"""CPU seconds of Spark jobs that drop rows, with furui and with Spark alone; docs/machines.md has the figures.

Usage: python bench_spark.py [ROUNDS]. It needs pyspark, moto[server], 4 GB of disk, and Linux.
"""

import ctypes
import json
import logging
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import furui.cloud
import furui.spark
from furui.sources import Folder

#: The rows of a day. An earlier day has had half of them, and a twentieth comes twice.
DAY, KNOWN, KEYS = 2_000_000, 1_000_000, 1_900_000
HISTORY = 20_000_000
SUBREAPER = 36


def session(folder: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    settings = {"ui.enabled": "false", "driver.host": "127.0.0.1", "local.dir": str(folder), "driver.memory": "3g"}
    builder: Any = SparkSession.builder
    builder = builder.master("local[2]").config("spark.sql.shuffle.partitions", "4")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def rows(spark: Any, first: int, count: int, distinct: int) -> Any:
    from pyspark.sql import functions as f

    number = (f.col("id") % distinct + first).cast("string")
    url = f.concat(f.lit("https://www.example.org/"), f.md5(number).substr(1, 16), f.lit("/page.html"))
    return spark.range(0, count, numPartitions=4).select(url.alias("url"), "id")


def job(kind: str, folder: Path, url: str, options: dict[str, Any]) -> None:
    """One job, from the start of Spark to its end."""
    spark = session(folder)
    day, out = spark.read.parquet(str(folder / "day")), folder / "table"
    if kind == "distinct":
        day.dropDuplicates(["url"]).write.parquet(str(out / "run"))
    elif kind.startswith("anti"):
        known = spark.read.parquet(str(folder / "history-20" / "run")).select("url")
        if kind == "anti":
            new = day.dropDuplicates(["url"]).join(known, "url", "left_anti")
        else:
            new = day.join(known, "url", "left_anti").dropDuplicates(["url"])
        new.write.parquet(str(out / "run"))
    else:
        furui.spark.drop_seen(day, "url", url, cache=folder / "cache", **options).write.parquet(str(out / "run"))
        furui.spark.record(spark, url, Folder(out), "url", **options)
    print(spark.read.parquet(str(out / "run")).count(), file=sys.stderr)
    spark.stop()


def measure(arguments: list[str]) -> None:
    """Runs a job and prints the CPU seconds of all processes that it has started."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    subprocess.run([sys.executable, __file__, "job", *arguments], check=True)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime)


def main(rounds: int) -> None:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/bucket", method="PUT")).close()
    options: dict[str, Any] = {"endpoint": endpoint, "region": "us-east-1", "access_key_id": "a"}
    options |= {"secret_access_key": "b", "virtual_hosted_style_request": False, "client_options": {"allow_http": True}}
    folder = Path(tempfile.mkdtemp(prefix="furui-bench-"))
    spark = session(folder)
    rows(spark, HISTORY - KNOWN, DAY, KEYS).write.parquet(str(folder / "day"))
    for millions in (2, 20):
        history = folder / f"history-{millions}"
        count = millions * 1_000_000
        rows(spark, HISTORY - count, count, count).write.parquet(str(history / "run"))
        furui.cloud.create(f"s3://bucket/{millions}", shards=4, **options)
        furui.spark.record(spark, f"s3://bucket/{millions}", Folder(history), "url", **options)
        furui.cloud.merge(f"s3://bucket/{millions}", all=True, **options)
    spark.stop()
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name in ["distinct", "anti", "anti-first", "first", "daily-2", "daily-20"]:
            url = f"s3://bucket/job-{os.urandom(4).hex()}"
            if name.startswith("daily-"):
                copy(f"s3://bucket/{name.removeprefix('daily-')}", url, options)
            elif name == "first":
                furui.cloud.create(url, shards=4, **options)
            for made in ("table", "cache"):
                shutil.rmtree(folder / made, ignore_errors=True)
            arguments = [sys.executable, __file__, "measure", name, str(folder), url, json.dumps(options)]
            done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
            times.setdefault(name, []).append(float(done.stdout))
    for name, figures in times.items():
        print(f"{name:10} {statistics.median(figures):6.1f} s of CPU ({min(figures):.1f} to {max(figures):.1f})")
    shutil.rmtree(folder)
    server.stop()


def copy(old: str, new: str, options: dict[str, Any]) -> None:
    """Copies a set, so that each round begins with the same."""
    import obstore.store

    source, target = (obstore.store.from_url(url, **options) for url in (old, new))
    for part in source.list():
        for meta in part:
            target.put(meta["path"], source.get(meta["path"]).bytes(), mode="create")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["job", kind, folder, url, options]:
            job(kind, Path(folder), url, json.loads(options))
        case ["measure", *arguments]:
            measure(arguments)
        case rounds:
            main(int(rounds[0]) if rounds else 3)
