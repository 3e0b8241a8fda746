"""A set answers as Python's own set does, remembers across runs, and says what is wrong."""

import contextlib
import pickle
import random
import threading
import uuid
from pathlib import Path
from typing import Any

import furui
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def test_a_key_is_new_once() -> None:
    seen = furui.Seen()
    assert seen.add("a") is True
    assert seen.add("a") is False
    assert "a" in seen
    assert "b" not in seen
    assert len(seen) == 1


def test_keys_of_different_types() -> None:
    seen = furui.Seen()
    number = uuid.UUID(int=2**100 + 7)
    keys: list[Any] = ["", "以前", b"\xff", 0, 2**64 - 1, -1, -(2**63), number, None, "\udcff-", ""]
    assert [seen.add(key) for key in keys] == [True] * 10 + [False]
    assert seen.add_many(keys) == [False] * 11
    # One key in two types.
    assert seen.add(b"") is False
    assert seen.add("以前".encode()) is False
    assert seen.add(bytearray(b"\xff")) is False
    assert seen.add(memoryview(b"\xff")) is False
    assert seen.add(number.bytes) is False
    assert seen.add(b"\xff-") is False, "a file name that is not UTF-8"
    # Different keys.
    assert seen.add("0") is True
    assert seen.add("None") is True


@pytest.mark.parametrize("key", [1.5, object(), ["a"], ("a",), {"a": 1}, 3 + 4j])
def test_a_value_that_is_no_key_is_refused(key: object) -> None:
    seen = furui.Seen()
    with pytest.raises(TypeError, match="a key must be"):
        seen.add(key)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a key must be"):
        seen.add_many(["a", key])
    assert len(seen) == 0, "a batch with a wrong value records nothing"


def test_numbers_beyond_64_bits_are_refused() -> None:
    seen = furui.Seen()
    for key in [2**64, -(2**63) - 1]:
        with pytest.raises(OverflowError, match="from -2"):
            seen.add(key)


def test_text_is_no_batch() -> None:
    batches: list[Any] = ["abc", b"abc", {"a": 1}, 7, None]
    for batch in batches:
        with pytest.raises(TypeError, match="a batch must be"):
            furui.Seen().add_many(batch)


def test_a_store_remembers(store: Path) -> None:
    with furui.Seen(store) as seen:
        assert seen.add_many(["a", "b", "a"]) == [True, True, False]
    with furui.Seen(store) as seen:
        assert seen.add_many(["b", "c"]) == [False, True]
        assert seen.path is not None and str(seen.path) == str(store)
    assert seen.closed
    with pytest.raises(ValueError, match="closed"):
        seen.add("a")
    seen.close()


def test_one_writer(store: Path) -> None:
    with furui.Seen(store) as seen:
        seen.add("a")
        seen.sync()
        with pytest.raises(furui.LockedError, match="in use"):
            furui.Seen(store)
        reader = furui.Seen(store, read_only=True)
        assert "a" in reader
        assert reader.has_many(["a", "b"]) == [True, False]
        with pytest.raises(furui.Error, match="reading only"):
            reader.add("b")
        with pytest.raises(furui.Error, match="reading only"):
            reader.discard("a")
        reader.close()


def test_a_reader_needs_a_store(store: Path) -> None:
    with pytest.raises(furui.ConfigError, match="needs the path"):
        furui.Seen(read_only=True)
    with pytest.raises(furui.Error):
        furui.Seen(store, read_only=True)
    assert not store.exists()


def test_keys_that_are_hashes() -> None:
    seen = furui.Seen()
    assert seen.add(0x1234567890ABCDEF, hashed=True)
    assert not seen.add((0x1234567890ABCDEF).to_bytes(8, "little") + b"more", hashed=True)
    assert seen.has_many([0x1234567890ABCDEF, 5], hashed=True) == [True, False]
    assert seen.add_many([5, 5], hashed=True) == [True, False]
    assert 5 not in seen, "5 as a key is not the hash 5"
    with pytest.raises(furui.ConfigError, match="no hash"):
        seen.add(b"short", hashed=True)
    with pytest.raises(furui.ConfigError, match="no hash"):
        seen.add_many([b"long enough", b"short"], hashed=True)


def test_discarded_keys_are_new_again(store: Path) -> None:
    for path in [None, store]:
        with furui.Seen(path) as seen:
            seen.add_many([str(i) for i in range(1000)])
            assert seen.discard("7") is True
            assert seen.discard("7") is False
            assert seen.discard_many(["8", "9", "absent"]) == 2
            assert len(seen) == 997
            assert seen.add_many(["7", "8", "10"]) == [True, True, False]
    with furui.Seen(store) as seen:
        assert seen.has_many(["7", "8", "9", "10"]) == [True, True, False, True]


def test_a_set_refuses_to_be_copied() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(furui.Seen())


def test_snapshots_are_sets_of_their_own(store: Path, tmp_path: Path) -> None:
    with furui.Seen(store) as seen:
        seen.add("a")
        seen.snapshot(tmp_path / "copy")
        seen.add("b")
    with furui.Seen(tmp_path / "copy") as copy:
        assert copy.add_many(["a", "b"]) == [False, True]
    with pytest.raises(furui.ConfigError, match="without a path"):
        furui.Seen().snapshot(tmp_path / "other")
    with furui.Seen(tmp_path / "empty") as seen:
        seen.snapshot(tmp_path / "other")
        assert seen.add("a")
    with furui.Seen(tmp_path / "other") as copy:
        assert len(copy) == 0 and copy.add("a"), "the copy of an empty set is an empty set"


def test_hashes_are_chosen_and_kept(store: Path, tmp_path: Path) -> None:
    with furui.Seen(store, hash="xxh64:0") as seen:
        assert seen.hash == "xxh64:0x0"
        seen.add("a")
        assert furui.Seen(like=seen).hash == "xxh64:0x0"
    assert furui.Seen(store).hash == "xxh64:0x0"
    assert furui.Seen(tmp_path / "b", like=store).hash == "xxh64:0x0"
    assert furui.Bloom.with_rate(10, 0.1, like=store).hash == "xxh64:0x0"
    assert furui.Seen().hash != furui.Seen().hash, "a new set has a secret seed"
    with pytest.raises(furui.ConfigError, match="made with"):
        furui.Seen(store, hash="xxh3:0")
    for text in ["md5", "xxh3:", "xxh3:x", "xxh3:0x1ffffffffffffffff"]:
        with pytest.raises(furui.ConfigError, match="is no (hash|seed)"):
            furui.Seen(hash=text)
    with pytest.raises(furui.ConfigError, match="exclude each other"):
        furui.Seen(hash="xxh3:0", like=store)


def test_how_keys_are_made_is_kept(store: Path) -> None:
    with furui.Seen(store, form="url column") as seen:
        seen.add("a")
        assert seen.form == "url column"
    with pytest.raises(furui.ConfigError, match="url column"):
        furui.Seen(store)
    with furui.Seen(store, form="url column") as seen:
        assert seen.add("a") is False
        assert seen.discard("a") and seen.add("a")


def test_sizes_and_windows_are_checked(store: Path) -> None:
    sizes: list[Any] = ["64 parsecs", "-1", "", -5, 2**70, True, "1KiB", 0, 2**20 - 1]
    for memory in sizes:
        with pytest.raises(furui.ConfigError, match="size"):
            furui.Seen(memory=memory)
        with pytest.raises(furui.ConfigError, match="size"):
            furui.Run(store, memory=memory)
    windows: list[Any] = ["", "h", "0s", "1 fortnight", 0, -1, True, False]
    for window in windows:
        with pytest.raises(furui.ConfigError, match="window"):
            furui.Seen(window=window)
    for seconds in [-1.0, float("nan"), 1e300, True, False]:
        with pytest.raises(furui.ConfigError, match="sync"):
            furui.Seen(store, sync=seconds)
    understood: list[int | str] = ["1GiB", "1.5GiB", "64M", "64 mb", 64 << 20]
    for memory in understood:
        assert furui.Seen(memory=memory).add("a")
    for window in ["500ms", "90s", "1.5h", "1000000"]:
        assert furui.Seen(window=window).add("a")


def test_a_window_forgets() -> None:
    seen = furui.Seen(window=160)
    assert seen.add("a")
    assert not any(seen.add_many(["a"] * 200))
    assert all(seen.add_many([str(i) for i in range(180)]))
    assert seen.add("a"), "170 other keys came since"
    hour = furui.Seen(window="1h")
    assert hour.add("a") and not hour.add("a")
    assert hour.add_many(["a", "b"]) == [False, True]


def test_damage_is_told_and_never_believed(store: Path) -> None:
    with furui.Seen(store) as seen:
        seen.add_many([str(i) for i in range(10_000)])
    run = next(store.glob("*.run"))
    data = bytearray(run.read_bytes())
    data[len(data) // 2] ^= 1
    run.write_bytes(data)
    with pytest.raises(furui.DamageError) as caught, furui.Seen(store) as seen:
        seen.has_many([str(i) for i in range(10_000)])
    assert caught.value.path == str(run)
    assert 0 < caught.value.offset < len(data)
    assert isinstance(caught.value, OSError)
    assert pickle.loads(pickle.dumps(caught.value)).path == str(run)


def test_paths_that_cannot_be_stores(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("a")
    paths: list[Any] = [tmp_path / "file", tmp_path / "other", "/proc/none"]
    for path in paths:
        with pytest.raises(furui.Error):
            furui.Seen(path).add("a")


def test_figures() -> None:
    seen = furui.Seen()
    seen.add_many(["a", "b", "a"])
    assert {"len": 2, "keys": 3, "new": 2, "repeats": 1}.items() <= seen.stats().items()
    assert "2 keys" in repr(seen)


def test_figures_after_the_end_are_those_of_the_files(store: Path) -> None:
    with furui.Seen(store) as seen:
        seen.add_many(range(10_000))
        seen.sync()
        assert seen.stats()["runs"] == 0
    stats = seen.stats()
    assert (stats["len"], stats["new"], stats["runs"], stats["unsynced"]) == (10_000, 10_000, 1, 0)
    assert stats["bytes"] == sum(file.stat().st_size for file in store.glob("*.run"))
    seen.close()
    assert seen.stats() == stats


@pytest.mark.parametrize("kind", ["list", "iterator", "numpy"])
def test_other_threads_run_while_a_list_is_read(kind: str) -> None:
    """A call with two million keys does not keep the interpreter from a thread that wants it now and then."""
    # No key is recorded, because of the last value, so that most of the time goes into reading the batch.
    batch: Any = [f"https://example.org/{i}" for i in range(2_000_000)] + [1.5]
    if kind == "numpy":
        import numpy as np

        batch = np.array(batch, dtype=object)
    seen, done, turns = furui.Seen(), threading.Event(), 0

    def ask() -> None:
        with contextlib.suppress(TypeError):
            seen.add_many(iter(batch) if kind == "iterator" else batch)
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns >= 20


letters = st.characters() | st.sampled_from("\ud83d\ude00\udc80\udcff")
keys = st.one_of(st.text(letters, max_size=3), st.binary(max_size=3), st.integers(-3, 300), st.none())


def model_key(key: object) -> object:
    if not isinstance(key, str):
        return key
    letters = (letter.encode("utf-8", "surrogateescape" if letter >= "\udc80" else "surrogatepass") for letter in key)
    return b"".join(letters if any("\ud800" <= letter <= "\udfff" for letter in key) else [key.encode()])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(keys, st.lists(keys, max_size=8)), max_size=40), st.randoms(use_true_random=False))
def test_a_set_is_as_pythons_set(steps: list[object], chance: random.Random) -> None:
    seen, model = furui.Seen(), set[object]()
    for step in steps:
        if isinstance(step, list):
            if chance.random() < 0.2:
                gone = {model_key(key) for key in step} & model
                assert seen.discard_many(step) == len(gone)
                model -= gone
                continue
            expected = []
            for key in step:
                expected.append(model_key(key) not in model)
                model.add(model_key(key))
            assert seen.add_many(step) == expected
        else:
            assert (step in seen) == (model_key(step) in model)
            assert seen.add(step) == (model_key(step) not in model)  # type: ignore[arg-type]
            model.add(model_key(step))
        assert len(seen) == len(model)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_small_memory_changes_no_answer(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("small") / "store"
    model = set[int]()
    seen = furui.Seen(path, memory="1MiB", sync=None)
    for _ in range(12):
        batch = [chance.randrange(400_000) for _ in range(chance.randrange(1, 60_000))]
        expected = []
        for key in batch:
            expected.append(key not in model)
            model.add(key)
        assert seen.add_many(batch) == expected
        key = chance.randrange(400_000)
        assert (key in seen) == (key in model)
        assert seen.add(key) == (key not in model)
        model.add(key)
        if chance.random() < 0.3:
            seen.close()
            seen = furui.Seen(path, memory="1MiB", sync=None)
        assert len(seen) == len(model)
