"""Filters of every kind: what is in them is found, and files, copies and pickles are the same filter."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import furui
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Maker = Callable[..., Any]
Test = TypeVar("Test", bound=Callable[..., None])
SIZED: dict[str, Maker] = {
    "bloom": furui.Bloom.with_rate,
    "blocked": furui.BlockedBloom.with_rate,
    "counting": furui.CountingBloom.with_rate,
    "quotient": furui.QuotientFilter.with_rate,
    "ringed": furui.RingedBloom.with_rate,
    "stable-light": furui.StableBloomLight.with_rate,
    "window": furui.WindowBloom.with_rate,
    "parquet": furui.SplitBlockBloom.with_rate,
}
ALL: dict[str, Maker] = SIZED | {"scalable": furui.ScalableBloom.with_rate}
UNITED = {name: make for name, make in ALL.items() if name not in ("stable-light", "window")}
COMMON = {name: make for name, make in UNITED.items() if name not in ("counting", "scalable")}
REMOVING = {name: ALL[name] for name in ("counting", "quotient")}


def each(makers: dict[str, Maker]) -> Callable[[Test], Test]:
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


@each(ALL)
def test_what_is_in_is_found_and_little_else(make: Maker) -> None:
    words = make(10_000, 0.01)
    assert words.add("a") is True
    assert words.add("a") is False
    assert words.update(str(i) for i in range(9_000)) > 8_800
    assert all(words.has_many([str(i) for i in range(9_000)]))
    assert "a" in words and 5 not in words
    wrong = sum(words.has_many([f"x{i}" for i in range(20_000)]))
    assert wrong < 20_000 * 0.015
    assert 0 < words.rate < 0.02
    assert words.hash in ("xxh3:0x0", "xxh64:0x0")


@each(ALL)
def test_files_copies_and_pickles_are_the_same_filter(make: Maker, tmp_path: Path) -> None:
    words = make(1000, 0.001, hash="siphash:7")
    words.update(["a", "b"])
    words.save(tmp_path / "words.filter")
    same = [
        furui.Filter.load(tmp_path / "words.filter"),
        type(words).load(str(tmp_path / "words.filter")),
        type(words).from_bytes(words.to_bytes()),
        pickle.loads(pickle.dumps(words)),
        words.copy(),
        copy.copy(words),
        copy.deepcopy(words),
        furui.Filter.open(tmp_path / "words.filter").copy(),
    ]
    for other in same:
        assert type(other) is type(words)
        assert other.to_bytes() == words.to_bytes() == (tmp_path / "words.filter").read_bytes()
        assert other.add("c")
    assert "c" not in words
    mapped = type(words).open(tmp_path / "words.filter")
    assert mapped.has_many(["a", "c"]) == [True, False]
    changes: list[Callable[[], Any]] = [lambda: mapped.add("d"), lambda: mapped.update(["d"])]
    for change in changes:
        with pytest.raises(furui.ConfigError, match="read only"):
            change()


@each(UNITED)
def test_unions(make: Maker) -> None:
    a, b, both = make(1000, 0.001), make(1000, 0.001), make(1000, 0.001)
    a.update(["a", "x"])
    b.update(["b", "x"])
    both.update(["a", "x", "b", "x"])
    union = a | b
    assert union.has_many(["a", "b", "x", "c"]) == [True, True, True, False]
    assert "b" not in a
    a |= b
    assert a.to_bytes() == union.to_bytes()


@each(COMMON)
def test_intersections_and_similarity(make: Maker) -> None:
    a, b = make(1000, 0.001), make(1000, 0.001)
    a.update(str(i) for i in range(600))
    b.update(str(i) for i in range(300, 900))
    assert abs(a.similarity(b) - 1 / 3) < 0.1
    assert a.similarity(a) == 1
    common = a & b
    assert all(common.has_many([str(i) for i in range(300, 600)]))
    assert sum(common.has_many([str(i) for i in range(300)])) < 30
    a &= b
    assert a.to_bytes() == common.to_bytes()
    assert abs((b.count() or 0) - 600) < 30


@each(REMOVING)
def test_keys_are_removed(make: Maker) -> None:
    words = make(1000, 0.001)
    words.update(["a", "a", "b"])
    assert words.remove("b") is True
    assert "b" not in words
    assert words.remove("a") is True
    assert "a" in words, "it was inserted twice"
    assert words.remove("never") is False


def test_filters_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    bloom = furui.Bloom.with_rate(1000, 0.01)
    for other in [
        furui.Bloom.with_rate(2000, 0.01),
        furui.Bloom.with_rate(1000, 0.01, hash="xxh3:1"),
        furui.BlockedBloom.with_rate(1000, 0.01),
    ]:
        combinations: list[Callable[[Any, Any], Any]] = [
            lambda a, b: a | b,
            lambda a, b: a & b,
            lambda a, b: a.similarity(b),
        ]
        for combine in combinations:
            with pytest.raises(furui.ConfigError):
                combine(bloom, other)
    with pytest.raises(TypeError):
        bloom | 5  # type: ignore[operator]
    bloom.save(tmp_path / "f")
    with pytest.raises(furui.ConfigError, match="use furui.Bloom"):
        furui.QuotientFilter.open(tmp_path / "f")
    with pytest.raises(furui.ConfigError):
        furui.QuotientFilter.with_rate(100, 0.01, removable=False).remove("a")
    assert not hasattr(bloom, "remove")


def test_sizes_and_rates_are_checked() -> None:
    for make in ALL.values():
        for rate in [0.0, 1.0, -1.0, 2.0, float("nan")]:
            with pytest.raises(furui.ConfigError):
                make(1000, rate)
    for make in SIZED.values():
        with pytest.raises((furui.ConfigError, MemoryError)):
            make(2**63, 0.001)
        with pytest.raises((TypeError, OverflowError)):
            make(-1, 0.01)


def test_a_full_filter_says_so() -> None:
    words = furui.QuotientFilter.with_rate(100, 0.01)
    with pytest.raises(furui.FullError, match="full"):
        words.update(str(i) for i in range(10_000))
    with pytest.raises(furui.FullError):
        for i in range(10_000):
            words.add(str(i))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    words = furui.BlockedBloom.with_rate(10_000, 0.01)
    words.update(str(i) for i in range(10_000))
    data = words.to_bytes()
    file = tmp_path / "f"
    for at in range(0, len(data), 997):
        file.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises((furui.DamageError, furui.ConfigError)) as caught:
            furui.Filter.load(file)
        assert str(file) in str(caught.value)
        with pytest.raises((furui.DamageError, furui.ConfigError)):
            furui.Filter.from_bytes(file.read_bytes())
        with pytest.raises((furui.DamageError, furui.ConfigError)):
            furui.Filter.open(file).has_many([str(i) for i in range(10_000)])
    for cut in [b"", data[:7], data[:-1], data + b"x", b"not a filter"]:
        with pytest.raises((furui.DamageError, furui.ConfigError)):
            furui.Filter.from_bytes(cut)
    with pytest.raises(furui.Error):
        furui.Filter.open(tmp_path / "none")


def test_fuse(tmp_path: Path) -> None:
    keys = [str(i) for i in range(9_000)]
    words = furui.Fuse.from_keys(iter(keys + keys), 0.004, hash="siphash:7")
    assert (words.kind, words.capacity, words.count(), words.rate) == ("fuse", 9_000, 9_000, 1 / 256)
    assert words.hash == furui.Fuse.from_keys([], 0.5, like=words).hash == "siphash:0x7"
    assert len(words.to_bytes()) * 8 < 9_000 * 10.5
    words.save(tmp_path / "f")
    for read in [words, furui.Fuse.open(tmp_path / "f"), furui.Filter.load(tmp_path / "f"), words.copy()]:
        assert type(read) is furui.Fuse and read.to_bytes() == words.to_bytes()
        assert all(read.has_many(keys)) and "8999" in read
        assert 20 < sum(read.has_many([f"x{i}" for i in range(20_000)])) < 140
    with pytest.raises(furui.ConfigError, match="build a new one from all keys"):
        words.add("new")
    with pytest.raises(furui.ConfigError, match="build a new one from all keys"):
        words.update(["new"])
    with pytest.raises(furui.ConfigError, match="does not support"):
        words | words
    for rate in [0.0, 1.0, 1e-9, float("nan")]:
        with pytest.raises(furui.ConfigError, match="rate"):
            furui.Fuse.from_keys(keys, rate)
    with pytest.raises(TypeError):
        furui.Fuse.from_keys([1.5], 0.01)


def test_parquet() -> None:
    words = furui.SplitBlockBloom.with_rate(1000, 0.001)
    words.update(["a", 7, b"\xff"])
    data = words.to_parquet()
    assert len(data) < len(words.to_bytes())
    read = furui.SplitBlockBloom.from_parquet(data)
    assert read.to_parquet() == data
    assert all(read.has_many(["a", 7, b"\xff"]))
    assert (7).to_bytes(8, "little") in read
    for wrong in [b"", data[:-1], b"PAR1"]:
        with pytest.raises(furui.ConfigError):
            furui.SplitBlockBloom.from_parquet(wrong)
    with pytest.raises(furui.ConfigError):
        furui.SplitBlockBloom.with_rate(1000, 0.001, hash="xxh3:0").to_parquet()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(ALL)), st.lists(st.one_of(st.text(max_size=4), st.integers(0, 99)), max_size=60))
def test_a_filter_never_denies_a_key(name: str, keys: list[str | int]) -> None:
    words = ALL[name](1000, 0.01)
    for key in keys:
        words.add(key)
        assert key in words
    assert words.has_many(keys) == [True] * len(keys)


def test_a_filter_with_a_window_has_its_last_keys_for_sure() -> None:
    last = furui.WindowBloom.with_rate(1600, 1e-6)
    assert last.update(range(2000)) == 2000
    assert all(last.has_many(list(range(400, 2000))))
    assert sum(last.has_many(list(range(300)))) == 0
    day = furui.WindowBloom.with_rate(100, 0.001, window="1d")
    assert day.update(range(20_000)) > 19_900, "more than were expected: it grows"
    assert all(day.has_many(list(range(20_000)))) and 7 in day
    assert sum(day.has_many([f"x{i}" for i in range(20_000)])) < 20 + 3 * 4.5
    assert day.rate < 0.001
    few = furui.WindowBloom.with_rate(10, 1e-6, window=16)
    few.update(range(100))
    assert 99 in few and 50 not in few
    wrong: list[int | str] = ["1w", "0", 0, -1]
    for window in wrong:
        with pytest.raises(furui.ConfigError, match="window"):
            furui.WindowBloom.with_rate(100, 0.01, window=window)
