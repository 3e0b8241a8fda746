"""Runs record nothing before their commit, whatever fails; sets in directories are combined, exported and imported."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import furui
import numpy as np
import pytest


def keys(start: int, stop: int) -> list[str]:
    return [f"key {number}" for number in range(start, stop)]


def test_a_run_is_forgotten_unless_it_is_committed(store: Path) -> None:
    for _ in range(2):
        with furui.Run(store) as run:
            assert run.add("a") and not run.add("a")
            assert run.add_many(["a", "b", "b"]) == [False, True, False]
            assert "b" in run and len(run) == 2 and run.note is None
    with pytest.raises(RuntimeError), furui.Run(store) as run:
        assert run.add("a")
        raise RuntimeError("the job failed")
    with furui.Run(store) as run:
        assert run.add_many(["a", "b"]) == [True, True]
        assert run.commit(note="day 1") == 0
        # The run goes on over the set with these keys.
        assert run.note == "day 1" and len(run) == 0
        assert run.add_many(["a", "c"]) == [False, True]
    with furui.Seen(store) as seen:
        assert seen.note == "day 1" and len(seen) == 2 and "c" not in seen


def test_others_may_commit_meanwhile(store: Path) -> None:
    first, second = furui.Run(store), furui.Run(store)
    first.add_many(keys(0, 1000))
    second.add_many(keys(500, 1500))
    assert first.commit("one", after=None) == 0
    with pytest.raises(furui.ConflictError, match="one"):
        second.commit("two", after=None)
    with pytest.raises(furui.ConflictError, match="one"):
        second.commit("two", after="another")
    assert second.commit("two", after="one") == 500
    with pytest.raises(furui.ConfigError, match="4096"):
        second.commit("x" * 4097)
    with pytest.raises(TypeError):
        second.commit("x", after=7)  # type: ignore[arg-type]
    with furui.Seen(store) as seen:
        assert len(seen) == 1500
        with pytest.raises(furui.LockedError):
            second.commit()
    second.commit()
    with pytest.raises(furui.Error, match="read"):
        second.discard("key 1")


def test_a_run_spills_and_sees_the_journal_of_a_writer(store: Path) -> None:
    with furui.Seen(store, sync=0) as seen:
        seen.add_many(keys(0, 1000))
        with furui.Run(store, memory="1MiB") as run:
            assert sum(run.add_many(keys(0, 400_000))) == 399_000
            assert sum(run.add_many(keys(0, 400_000))) == 0
            assert len(run) == 399_000
            seen.close()
            assert run.commit() == 0
    with furui.Seen(store) as seen:
        assert len(seen) == 400_000


def test_many_runs_begin_at_once_where_no_set_is(store: Path) -> None:
    runs: list[furui.Run] = []
    threads = [threading.Thread(target=lambda: runs.append(furui.Run(store))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, run in enumerate(runs):
        run.add_many(["all", str(number)])
        run.commit()
    assert len(furui.Seen(store, read_only=True)) == 9


def test_a_job_that_is_killed_anywhere_loses_no_row(store: Path, tmp_path: Path) -> None:
    """A job writes its rows, renames them to their place, and commits; it is killed at a random step, and tried again."""
    code = """
import os, signal, sys
import furui
store, folder, attempt, step = sys.argv[1:]
def reach(name):
    if name == step:
        os.kill(os.getpid(), signal.SIGKILL)
with furui.Run(store, memory="1MiB") as run:
    if run.note == attempt:  # An earlier attempt has done all.
        sys.exit()
    rows = [f"key {i}" for i in range(int(attempt) * 1000, int(attempt) * 1000 + 3000)]
    new = [row for row, is_new in zip(rows, run.add_many(rows)) if is_new]
    reach("asked")
    with open(f"{folder}/temporary", "w") as file:
        file.write("".join(row + "\\n" for row in new))
    reach("written")
    os.rename(f"{folder}/temporary", f"{folder}/{attempt}")
    reach("placed")
    run.commit(note=attempt)
    reach("recorded")
"""
    random.seed(7)
    rows = tmp_path / "rows"
    rows.mkdir()
    for attempt in range(12):
        step = random.choice(["asked", "written", "placed", "recorded"])
        for end in [step, ""]:
            arguments = [sys.executable, "-c", code, str(store), str(rows), str(attempt), end]
            done = subprocess.run(arguments, check=False)
            assert (done.returncode == 0) == (end == "")
    found = [row for file in rows.iterdir() for row in file.read_text().split("\n") if row]
    # Rows come twice only if a kill came between their place and their record, and those are written anew.
    assert sorted(set(found)) == sorted(keys(0, 14_000))
    with furui.Seen(store) as seen:
        assert seen.note == "11" and len(seen) == 14_000


def test_sets_are_combined(tmp_path: Path) -> None:
    a = furui.Seen(tmp_path / "a")
    b = furui.Seen(tmp_path / "b", like=a)
    a.add_many(keys(0, 1000))
    b.add_many(keys(600, 2000))
    assert furui.union(tmp_path / "union", a, b) == 2000
    assert furui.subtract(tmp_path / "difference", tmp_path / "a", b) == 600
    assert furui.intersect(tmp_path / "both", a, b) == 400
    with furui.Seen(tmp_path / "both") as both:
        assert both.has_many(keys(0, 2000)) == [False] * 600 + [True] * 400 + [False] * 1000
    with pytest.raises(furui.ConfigError):
        furui.union(tmp_path / "other", a, furui.Seen(tmp_path / "c"))
    with pytest.raises(furui.Error):
        furui.union(tmp_path / "union", a, b)
    with pytest.raises(furui.ConfigError):
        furui.union(tmp_path / "other", furui.Seen())
    with pytest.raises(furui.ConfigError):
        furui.union(tmp_path / "other")
    with pytest.raises(furui.Error):
        furui.union(tmp_path / "other", tmp_path / "none")


def test_hashes_go_out_and_in(tmp_path: Path) -> None:
    with furui.Seen(tmp_path / "a", hash="xxh64:0") as a:
        a.add_many(keys(0, 1000))
        assert furui.export_hashes(a, tmp_path / "hashes") == 1000
    hashes = np.fromfile(tmp_path / "hashes", "<u8")
    assert len(hashes) == 1000 and (np.diff(hashes) > 0).all()
    with furui.Seen(tmp_path / "b", hash="xxh64:0") as b:
        b.add_many(keys(500, 600))
    assert furui.import_hashes(tmp_path / "b", tmp_path / "hashes") == 900
    assert furui.import_hashes(tmp_path / "b", tmp_path / "hashes") == 0
    with furui.Seen(tmp_path / "b") as b:
        assert all(b.has_many(keys(0, 1000))) and len(b) == 1000
    (tmp_path / "hashes").write_bytes(b"123456789")
    with pytest.raises(furui.Error, match="within a hash"):
        furui.import_hashes(tmp_path / "b", tmp_path / "hashes")
    with pytest.raises(furui.Error):
        furui.import_hashes(tmp_path / "none", tmp_path / "hashes")
