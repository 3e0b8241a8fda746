"""A store that is in use says by whom, and where this process opened it."""

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import furui
import pytest

KINDS: list[Callable[[Any], Any]] = [furui.Seen, furui.Dict]


def line() -> str:
    """This file, and the line that calls."""
    return f"{__file__}:{sys._getframe(1).f_lineno}"


@pytest.mark.parametrize("kind", KINDS)
def test_this_process_is_named_with_the_line(kind: Callable[[Any], Any], store: Path) -> None:
    first, opened = kind(store), line()
    (store.parent / "link").symlink_to(store)
    for path in [store, str(store), store.parent / "link", store / ".." / "store"]:
        for other in KINDS:
            with pytest.raises(furui.LockedError) as caught:
                other(path)
            assert str(caught.value) == f"{path}: in use by this process: close the other object, opened at {opened}"
    first.close()
    second, opened = kind(store), line()
    with pytest.raises(furui.LockedError, match=f"opened at {opened}$"):
        kind(store)
    del second
    kind(store).close()


def test_a_cell_that_raised_keeps_its_object(store: Path) -> None:
    """As in a notebook, which keeps the last traceback."""

    def cell() -> None:
        seen = furui.Seen(store)
        seen.add("a")
        raise RuntimeError("the cell broke")

    with pytest.raises(RuntimeError) as kept:
        cell()
    with pytest.raises(furui.LockedError, match=rf"by this process: close the other object, opened at {__file__}:\d+$"):
        furui.Seen(store)
    kept.value.with_traceback(None)
    del kept
    gc.collect()
    assert "a" in furui.Seen(store)


def test_a_run_says_who_keeps_it_from_its_commit(store: Path) -> None:
    with furui.Run(store) as run:
        run.add("a")
        seen, opened = furui.Seen(store), line()
        with pytest.raises(furui.LockedError, match=f"in use by this process: .* opened at {opened}$"):
            run.commit()
        seen.close()
        run.commit()
    assert "a" in furui.Seen(store)


def test_readers_hold_no_lock(store: Path) -> None:
    furui.Seen(store).close()
    with furui.Seen(store) as seen:
        seen.add("a")
    reader = furui.Seen(store, read_only=True)
    with furui.Seen(store) as seen:
        assert seen.add("b")
    assert reader.has_many(["a", "b"]) == [True, False], "it sees the store as it was when it was opened"


def hold(store: Path, held: Any, go: Any) -> None:
    with furui.Seen(store):
        held.set()
        go.wait(60)


def test_another_process_is_not_this_one(store: Path) -> None:
    with furui.Seen(store) as seen:
        seen.add("a")
    context = multiprocessing.get_context("spawn")
    held, go = context.Event(), context.Event()
    process = context.Process(target=hold, args=(store, held, go))
    process.start()
    assert held.wait(60)
    with pytest.raises(furui.LockedError, match="in use by another process"):
        furui.Seen(store)
    go.set()
    process.join()
    assert "a" in furui.Seen(store)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="SKIPPED: there is no fork")
def test_after_a_fork_the_parent_is_another_process(store: Path) -> None:
    with furui.Seen(store):
        child = os.fork()
        if child == 0:
            try:
                furui.Seen(store)
                status = 1
            except furui.LockedError as error:
                status = 0 if "another process" in str(error) else 2
            os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
