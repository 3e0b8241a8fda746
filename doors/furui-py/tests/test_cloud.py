"""A set in a bucket of a real server (moto's, on loopback), which many machines would share."""

import os
import threading
from pathlib import Path

import furui
import furui.cloud as cloud
import pytest
from conftest import Service
from furui._bucket import Bucket
from tables import keys


def test_runs_are_recorded_by_their_commit_alone(url: str, service: Service, tmp_path: Path) -> None:
    for day in range(3):
        for attempt in range(2):
            with cloud.Run(url, cache=tmp_path, **service.options) as run:
                first = day * 5000
                assert sum(run.add_many(keys(first, first + 10_000))) == (10_000 if day == 0 else 5000)
                assert run.note == (None if day == 0 else f"day {day - 1}")
                if attempt:
                    run.commit(f"day {day}")
    seen = cloud.open(url, cache=tmp_path, **service.options)
    assert seen.note == "day 2" and len(seen) == 20_000
    assert all(seen.has_many(keys(0, 20_000))) and not any(seen.has_many(keys(20_000, 20_100)))
    with pytest.raises(furui.Error):
        seen.add("key 1")
    # A reader may fetch some shards, and ask only for their keys.
    shards = furui.shard_of(keys(0, 20_000), 4, seen.hash)
    part = cloud.open(url, shards=[1], **service.options)
    assert part.has_many(keys(0, 20_000)) == [shard == 1 for shard in shards]


def test_of_two_commits_after_one_note_one_fails(url: str, service: Service) -> None:
    a, b = cloud.Run(url, **service.options), cloud.Run(url, **service.options)
    a.add_many(["x", "y"])
    b.add_many(["y", "z"])
    a.commit("A", after=None)
    with pytest.raises(furui.ConflictError, match="'A'"):
        b.commit("B", after=None)
    b.commit()
    seen = cloud.open(url, **service.options)
    assert seen.has_many(["x", "y", "z"]) == [True] * 3 and seen.note == "A"
    # Objects may share keys, until they are merged.
    assert len(seen) == 4
    assert cloud.merge(url, all=True, **service.options) and not cloud.merge(url, all=True, **service.options)
    assert len(cloud.open(url, **service.options)) == 3


def test_many_writers_at_once_lose_nothing(url: str, service: Service) -> None:
    def work(number: int) -> None:
        with cloud.Run(url, **service.options) as run:
            run.add_many(keys(number * 100, number * 100 + 150))
            run.commit()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state, _ = Bucket(url, **service.options).read()
    assert len(state.objects) == 8 and state.generation == 8
    assert all(cloud.open(url, **service.options).has_many(keys(0, 850)))


def test_sweeps_delete_what_nobody_needs_and_readers_say_so(url: str, service: Service, tmp_path: Path) -> None:
    for number in range(3):
        with cloud.Run(url, **service.options) as run:
            run.add_many(keys(number * 100, number * 100 + 100))
            run.commit()
    bucket = Bucket(url, **service.options)
    old, _ = bucket.read()
    manifest = bucket.manifest
    assert cloud.merge(url, all=True, **service.options)
    cloud.sweep(url, **service.options)
    # A week is not over: a reader of the earlier generation finds all.
    assert all(bucket.open(old, manifest, tmp_path / "early", 1 << 20, read_only=True).has_many(keys(0, 300)))
    cloud.sweep(url, older_than=-1, **service.options)
    assert all(cloud.open(url, **service.options).has_many(keys(0, 300)))
    with pytest.raises(cloud.GoneError, match="open the set again"):
        bucket.open(old, manifest, tmp_path / "late", 1 << 20, read_only=True)
    # What is in the cache is still there for it.
    assert len(bucket.open(old, manifest, tmp_path / "early", 1 << 20, read_only=True)) == 300


def test_what_is_missing_cut_short_or_of_another_set_is_named(
    url: str, service: Service, tmp_path: Path
) -> None:
    with pytest.raises(cloud.Missing, match="no such bucket"):
        cloud.create("s3://nowhere/urls", **service.options)
    with pytest.raises(cloud.Missing, match="no set here"):
        cloud.open(url + "-other", **service.options)
    with pytest.raises(furui.ConfigError, match="4 shards"):
        cloud.create(url, shards=8, **service.options)
    with pytest.raises(furui.ConfigError, match="path"):
        cloud.create(f"file://{tmp_path}")
    with cloud.Run(url, **service.options) as run:
        run.add_many(keys(0, 1000))
        run.commit()
    bucket = Bucket(url, **service.options)
    state, _ = bucket.read()
    name = state.objects[0].id.hex() + ".pack"
    whole = bytes(bucket._store.get(name).bytes())
    # A run that ends early, a byte of a page that differs, and another object.
    flipped = bytearray(whole)
    flipped[64 + 4096 + 10] ^= 1
    for bad in [whole[: len(whole) // 2], bytes(flipped), os.urandom(len(whole))]:
        bucket._store.put(name, bad)
        with pytest.raises(furui.Error, match=name[:32]):
            cloud.open(url, **service.options).has_many(keys(0, 1000))
    bucket._store.delete(name)
    with pytest.raises(cloud.GoneError, match=name):
        cloud.open(url, **service.options)
    bucket._store.put("MANIFEST", b"no manifest")
    with pytest.raises(furui.Error, match="MANIFEST"):
        cloud.open(url, **service.options)


def test_a_set_that_was_made_anew_is_another_one(url: str, service: Service, tmp_path: Path) -> None:
    run = cloud.Run(url, cache=tmp_path, **service.options)
    run.add("a")
    Bucket(url, **service.options)._store.delete("MANIFEST")
    cloud.create(url, shards=4, **service.options)
    with pytest.raises(cloud.ReplacedError):
        run.commit()
    assert "a" not in cloud.open(url, cache=tmp_path, **service.options)
