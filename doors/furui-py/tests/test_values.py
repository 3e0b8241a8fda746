"""A value is one key alone, in a list, and in the arrays of every library: missing ones, truths, and broken text."""

import datetime
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import furui
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

NAN = float("nan")
MISSING = [None, NAN, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.ma.masked]
MISSING += [np.datetime64("NaT"), np.timedelta64("NaT")]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_a_missing_value_is_none(value: Any) -> None:
    objects = np.empty(2, dtype=object)
    objects[:] = ["a", value]
    forms: list[Any] = [["a", value], ("a", value), iter(["a", value]), objects, pd.Series(["a", value], dtype=object)]
    for form in forms:
        seen = furui.Seen()
        assert list(seen.add_many(form)) == [True, True]
        assert not seen.add(value)
        assert None in seen and value in seen and len(seen) == 2
        assert furui.Bloom.with_rate(10, 1e-9).update(["a", value, None]) == 2


def test_columns_of_missing_values() -> None:
    columns: list[Any] = [
        np.array([NAN, NAN]),
        pd.Series([NAN, NAN]),
        pd.Series([None, None]),
        pd.Series([pd.NA, pd.NA], dtype="Int64"),
        pd.Series([pd.NA, pd.NA], dtype="string"),
        pd.Series([None, None], dtype="category"),
        pa.array([None, NAN]),
        pa.array([None, None], pa.float16()),
        np.ma.array([1.5, 2.5], mask=True),
    ]
    for column in columns:
        seen = furui.Seen()
        assert list(seen.add_many(column)) in ([True, False], [pa.scalar(True), pa.scalar(False)])
        assert None in seen and len(seen) == 1


def test_a_frame_has_the_keys_of_its_list() -> None:
    series = pd.Series(["a", None, "b", "a", NAN])
    columns = [series, series.to_numpy(), *(series.astype(kind) for kind in ["object", "string", "category"])]
    for column in columns:
        seen = furui.Seen()
        assert list(seen.add_many(column)) == [True, True, True, False, False]
        assert seen.has_many(column.tolist()) == [True] * 5


def test_a_wrong_value_is_named_with_its_type_and_its_index() -> None:
    many: list[Any] = ["a"] * 70_000
    wrong: list[tuple[Any, str]] = [
        (1.5, "not float"),
        (np.float64(1.5), r"not numpy\.float64"),
        (np.float32(1.5), r"not numpy\.float32"),
        (np.datetime64(1, "s"), r"not numpy\.datetime64"),
        (datetime.date(2026, 11, 27), r"not datetime\.date"),
        (pd.Timestamp(0), r"not pandas\..*Timestamp"),
        (["a"], "not list"),
        (Path("a"), r"not pathlib\."),
    ]
    for value, name in wrong:
        objects = np.empty(len(many) + 1, dtype=object)
        objects[:-1], objects[-1] = "a", value
        seen = furui.Seen()
        for batch in [[*many, value], objects, pd.Series(objects)]:
            with pytest.raises(TypeError, match=f"{name}.* at index 70000 of the batch"):
                seen.add_many(batch)
        with pytest.raises(TypeError, match=f"{name}") as caught:
            seen.add(value)
        assert "index" not in str(caught.value)
        assert len(seen) == 0
    with pytest.raises(OverflowError, match="at index 1 of the batch"):
        furui.Seen().add_many([1, 2**64])
    for floats in [np.array([NAN, 0.5]), pd.Series([NAN, 0.5]), pa.array([NAN, 0.5]), np.array([NAN, 0.5], ">f4")]:
        with pytest.raises(TypeError, match="at index 1 is not"):
            furui.Seen().add_many(floats)


def test_truths_are_numbers() -> None:
    seen = furui.Seen()
    assert seen.add_many([np.bool_(True), True, 1, np.bool_(False), 0]) == [True, False, False, True, False]
    for batch in [np.array([True, False]), pa.array([True, False]), pd.Series([True, False]), pd.Series([True, None])]:
        assert list(furui.Seen().add_many(batch)) == [True, True] or isinstance(batch, pa.Array)
        assert seen.has_many(batch.tolist())[0]
        assert list(seen.has_many(batch))[0]


#: Text with lone surrogates, and the bytes of its key.
BROKEN = {
    "\ud83d": b"\xed\xa0\xbd",
    "cut \ud83d": b"cut \xed\xa0\xbd",
    "\ude00 cut": b"\xed\xb8\x80 cut",
    "\udbff\udfff": b"\xed\xaf\xbf\xed\xbf\xbf",
    "\udcff-": b"\xff-",
    "\ud800\udc80é以\U0001f600": b"\xed\xa0\x80\x80" + "é以\U0001f600".encode(),
}


@pytest.mark.parametrize("text", BROKEN, ids=ascii)
def test_lone_surrogates(text: str, tmp_path: Path) -> None:
    makers: list[Callable[[Iterable[str]], Any]] = [
        list,
        iter,
        lambda keys: np.array(list(keys), dtype=object),
        lambda keys: np.array(list(keys)),
        lambda keys: np.array(list(keys), dtype=">U20"),
        lambda keys: pd.Series(list(keys), dtype=object),
    ]
    for make in makers:
        seen = furui.Seen()
        assert list(seen.add_many(make(["a", text, "b", text]))) == [True, True, True, False]
        assert not seen.add(text) and text in seen
        assert not seen.add(BROKEN[text])
        assert len(seen) == 3
    with furui.Dict(tmp_path / "dict") as words:
        words[text] = 7
        assert words[BROKEN[text]] == 7
        assert list(words) == [text]


def test_text_of_numpy() -> None:
    texts = ["", "a", "以前", "é", "\U0001f600", "x" * 60, "a\0b", "a" * 59 + "é"]
    kinds: list[Any] = ["<U60", ">U60", object, "U60"]
    for kind in kinds:
        seen = furui.Seen()
        assert all(seen.add_many(np.array(texts, dtype=kind)))
        assert all(seen.has_many(texts))
        assert len(seen) == len(texts)
    many = np.array([f"é{i}" for i in range(200_000)])
    seen = furui.Seen()
    assert all(seen.add_many(many[::2])) and all(seen.has_many(many[::2].tolist()))
    assert list(furui.Seen().add_many(np.array(["", ""], dtype="U0"))) == [True, False]
    broken = np.array([0x110000, 0x61], dtype="<u4").view("<U1")
    with pytest.raises(TypeError, match="index 0 is no text"):
        furui.Seen().add_many(broken)


MASK = [False, True, False, True]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2, 3, 4]),
        np.array([1, 2, 3, 4], dtype=">u2"),
        np.array([True, False, False, True]),
        np.array([b"a", b"b", b"c", b"d"]),
        np.array(["a", "以", "c", "d"]),
        np.array(["a", 1.5, 7, ["d"]], dtype=object),
        np.array([NAN, 2.5, NAN, 4.5]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_masked_elements_are_missing(values: Any) -> None:
    masked = np.ma.array(values, mask=MASK)
    expected = [None if hidden else value for value, hidden in zip(values.tolist(), MASK, strict=True)]
    for fill in [None, values[0]]:
        if fill is not None and values.dtype != object:
            masked.fill_value = fill
        seen = furui.Seen()
        assert seen.add_many(masked).tolist() == furui.Seen().add_many(expected)
        assert all(seen.has_many(expected))
        assert len(seen) == len(set(expected) - {NAN} if values.dtype.kind != "f" else {None})
    assert furui.Seen().add_many(masked[1:2]).tolist() == [True]
    assert furui.Seen().add_many(np.ma.array(values[:1].repeat(200_000), mask=[False, True] * 100_000)).sum() in (1, 2)
    assert furui.Bloom.with_rate(10, 1e-9).has_many(masked).tolist() == [False] * 4
    unmasked = np.ma.array(values[:1])
    assert furui.Seen().add_many(unmasked).tolist() == [True]


def test_a_masked_number_alone() -> None:
    seen = furui.Seen()
    assert seen.add(np.ma.array(5, mask=True)[()]) and None in seen and len(seen) == 1
    assert not seen.add(np.ma.array(5, mask=True))
    assert 5 not in seen
    with pytest.raises(TypeError, match="one dimension"):
        seen.add_many(np.ma.masked)


def test_what_is_no_batch(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("a\nb\n")
    with (tmp_path / "lines").open() as file, (tmp_path / "lines").open("rb") as data:
        for lines in [file, data]:
            functions: list[Any] = [furui.Seen().add_many, furui.Bloom.with_rate(10, 0.1).update]
            for function in functions:
                with pytest.raises(TypeError, match=r"rstrip"):
                    function(lines)
        assert furui.Seen().add_many(line.rstrip("\n") for line in file) == [True, True]
    keys: list[Any] = [bytearray(b"ab"), memoryview(b"ab"), "ab", b"ab", np.str_("ab"), np.bytes_(b"ab")]
    for key in keys:
        with pytest.raises(TypeError, match="a batch must be .*: put one key into a list"):
            furui.Seen().add_many(key)
        assert furui.Seen().add_many([key]) == [True]
    filtered = pd.DataFrame({"url": ["a", "b", "a"]}, index=[7, 8, 9]).iloc[[0, 2]]
    assert furui.Seen().add_many(filtered).tolist() == [True, False], "a frame of one column"
    with pytest.raises(TypeError, match="2 columns"):
        furui.Seen().add_many(pd.DataFrame({"a": ["a"], "b": ["b"]}))
