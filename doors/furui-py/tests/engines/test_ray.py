"""Ray Data, for real: tasks only ask a set in a bucket, and what was committed is recorded."""

from pathlib import Path

import furui
import furui.cloud as cloud
import furui.ray
import pyarrow as pa
import pyarrow.parquet as parquet
import ray
from conftest import Service
from furui.sources import Folder


def test_rows_are_dropped_that_an_earlier_job_has_committed(service: Service, tmp_path: Path) -> None:
    url, folder = "s3://bucket/ray", tmp_path / "table"
    cloud.create(url, shards=2, **service.options)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for day, (first, right) in enumerate([(0, 3000), (0, 0), (1500, 1500)]):
            keys = [f"key {first + number % 3000}" for number in range(4000)]
            rows = ray.data.from_arrow(pa.table({"url": keys, "n": list(range(4000))}))
            new = furui.ray.drop_seen(rows, "url", url, cache=tmp_path / "cache", **service.options)
            # The dataset is evaluated twice, which changes nothing.
            assert new.count() == right
            run = folder / f"run={day}"
            run.mkdir(parents=True)
            found = [row["url"] for row in new.take_all()]
            parquet.write_table(pa.table({"url": pa.array(found, pa.string())}), run / "part.parquet")
            (run / "_SUCCESS").touch()
            assert len(found) == len(set(found)) == right
            furui.record(url, Folder(folder), "url", **service.options)
        seen = cloud.open(url, **service.options)
        assert all(seen.has_many([f"key {number}" for number in range(4500)])) and len(seen) == 4500
    finally:
        ray.shutdown()
