"""Spark jobs that drop rows whose keys an earlier job has committed, and record what they have committed themselves.

    new = furui.spark.drop_seen(rows, "url", "s3://bucket/urls.seen")
    new.write.format("delta").mode("append").save("s3://bucket/urls")
    furui.spark.record(spark, "s3://bucket/urls.seen", Delta("s3://bucket/urls"), "url")

Tasks only ask, at one state of the set, which the driver has read. So a row is dropped or not whatever fails, is tried
again, is evaluated twice, or is divided otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ._bucket import Bucket, is_url, open_once
from ._furui import _pack
from ._protocol_effects import Object, State
from ._record import Removed, check, empty, tell_of_repeats
from ._record import record as _record
from .errors import ConfigError
from .sources import Appended, Source

__all__ = ["drop_seen", "record"]


def drop_seen(
    rows: Any,
    column: str,
    store: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    memory: int = 64 << 20,
    source: Source | None = None,
    removed: Removed = "error",
    **options: Any,
) -> Any:
    """Returns a data frame without the rows whose key the set knows, and with one row of each other key.

    rows: a data frame of Spark. column: that of the keys. store: the URL of a set in a bucket.
    cache: a folder on each worker's machine that keeps what was fetched; None: each worker process fetches all anew.
    source: where the rows will be committed: then RemovedError is raised if rows that the set knows are gone from it.
    removed: as in furui.record. options: those of the bucket.
    """
    if not is_url(store):
        raise ConfigError(f"{store}: the workers need a set in a bucket: give its URL")
    bucket, folder = Bucket(store, **options), None if cache is None else Path(cache)
    state = bucket.latest(folder)
    if source is not None:
        check(store, source, state.note, removed)
    manifest = bucket.manifest
    place = rows.schema.names.index(column)

    def ask(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as compute

        seen = open_once(store, options, state, manifest, folder, memory)
        for batch in batches:
            known = pa.array(seen.has_many(batch.column(place)), pa.bool_())
            yield batch.filter(compute.invert(known))

    return rows.mapInArrow(ask, rows.schema).dropDuplicates([column])


def record(
    spark: Any, store: str, source: Source, column: str, *, removed: Removed = "error", **options: Any
) -> str | None:
    """Adds the keys of all rows that were committed to a source since the note of the set, as furui.record does.

    The tasks of Spark read the files and build the objects; the driver commits. spark: the session.
    """

    def build(bucket: Bucket, base: State, appended: Appended, column: str) -> Sequence[Object]:
        objects: list[Object] = []
        if appended.files:
            objects = _build(spark, store, options, bucket.made, base, list(appended.files), column)
            if appended.commits > 1:
                # Counted only where two jobs can have written the same key: it takes a shuffle.
                rows = spark.read.parquet(*appended.files).select(column).dropna()
                count = rows.count()
                tell_of_repeats(store, count, count - rows.distinct().count())
        if appended.names:
            objects.append(bucket.put(lambda id: _names(bucket, base, appended.names, id)))
        return objects

    return _record(store, source, column, removed=removed, build=build, **options)


def _names(bucket: Bucket, base: State, names: Sequence[str], id: bytes) -> tuple[bytes, Object]:
    data, entry = _pack(empty(bucket, base), base.shards, list(names), id)
    return data, Object(*entry)


def _build(
    spark: Any, store: str, options: dict[str, Any], made: Any, base: State, files: list[str], column: str
) -> list[Object]:
    """Builds an object in each task. The objects of attempts that failed are orphans, which a sweep deletes."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        bucket = Bucket(store, **options)
        bucket.made = made
        seen = empty(bucket, base)
        for batch in batches:
            seen.add_many(batch.column(0))
        if not len(seen):
            return

        def build(id: bytes) -> tuple[bytes, Object]:
            data, entry = _pack(seen, base.shards, [], id)
            return data, Object(*entry)

        put = bucket.put(build)
        numbers = [put.length, put.keys, put.table_offset, put.table_length, put.table_checksum]
        yield pa.record_batch({"object": [":".join([put.id.hex(), *map(str, numbers)])]})

    rows = spark.read.parquet(*files).select(column).mapInArrow(pack, "object string").collect()
    objects = []
    for row in rows:
        id, *numbers = row["object"].split(":")
        objects.append(Object(bytes.fromhex(id), *map(int, numbers)))
    return objects
