"""Ray Data jobs that drop rows whose keys an earlier job has committed. furui.record records what a job has committed.

    new = furui.ray.drop_seen(rows, "url", "s3://bucket/urls.seen")
    new.write_parquet("/data/urls/run=2026-11-27")
    Path("/data/urls/run=2026-11-27/_SUCCESS").touch()
    furui.record("s3://bucket/urls.seen", Folder("/data/urls"), "url")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._bucket import Bucket, is_url, open_once
from .errors import ConfigError

__all__ = ["drop_seen"]


def drop_seen(
    rows: Any,
    column: str,
    store: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    memory: int = 64 << 20,
    **options: Any,
) -> Any:
    """Returns a dataset of Ray without the rows whose key the set knows, and with one row of each other key.

    The arguments are those of furui.spark.drop_seen. Tasks only ask, at one state of the set.
    """
    if not is_url(store):
        raise ConfigError(f"{store}: the workers need a set in a bucket: give its URL")
    bucket, folder = Bucket(store, **options), None if cache is None else Path(cache)
    state = bucket.latest(folder)
    manifest = bucket.manifest

    def ask(batch: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as compute

        seen = open_once(store, options, state, manifest, folder, memory)
        known = pa.array(seen.has_many(batch.column(column)), pa.bool_())
        return batch.filter(compute.invert(known))

    def first(group: Any) -> Any:
        return group.slice(0, 1)

    asked = rows.map_batches(ask, batch_format="pyarrow")
    return asked.groupby(column).map_groups(first, batch_format="pyarrow")
