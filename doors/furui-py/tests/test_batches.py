"""A batch of any library is answered as a list is, and in its own kind."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import furui
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

WORDS = ["a", "b", "", "以前", "a", None, "b", None, "x" * 300]
BYTES = [None if word is None else word.encode() for word in WORDS]
NUMBERS = [0, 1, 7, None, 1, 2**31 - 1, -1, None, -(2**31)]
NEW = [True, True, True, True, False, True, False, False, True]


class Foreign:
    """An object that speaks only the Arrow interface, as those of a library that furui does not know."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.data.__arrow_c_stream__(requested_schema)


def arrow_types() -> list[Any]:
    text = [pa.string(), pa.large_string(), pa.string_view()]
    data = [pa.binary(), pa.large_binary(), pa.binary_view()]
    coded = [pa.dictionary(code, pa.string()) for code in [pa.int8(), pa.uint16(), pa.int64()]]
    return [(kind, WORDS) for kind in text + coded] + [(kind, BYTES) for kind in data]


@pytest.mark.parametrize(("kind", "values"), arrow_types(), ids=lambda value: str(value)[:20])
def test_arrow_text_and_bytes(kind: Any, values: list[Any]) -> None:
    array = pa.array(values, pa.string()).cast(kind) if pa.types.is_dictionary(kind) else pa.array(values, kind)
    seen = furui.Seen()
    answer = seen.add_many(array)
    assert isinstance(answer, pa.BooleanArray)
    assert answer.to_pylist() == NEW
    assert seen.has_many(values) == [True] * len(values), "a list has the same keys"
    assert furui.Seen().add_many(pa.chunked_array([array[:3], array[3:]])).to_pylist() == NEW
    assert furui.Seen().add_many(array[2:7]).to_pylist() == [True, True, True, True, True]
    assert furui.Seen().add_many(pa.table({"key": array})).to_pylist() == NEW, "a table of one column"


def test_an_arrow_dictionary_without_values_has_only_nulls() -> None:
    array = pa.array([None, None], pa.dictionary(pa.int32(), pa.string()))
    assert furui.Seen().add_many(array).to_pylist() == [True, False]
    assert furui.Seen().add_many(array[:0]).to_pylist() == []


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()], ids=str
)
def test_arrow_numbers(kind: Any) -> None:
    low = -7 if str(kind).startswith("i") else 7
    values = [0, 1, low, None, 1, 127, low, None, 100]
    seen = furui.Seen()
    assert seen.add_many(pa.array(values, kind)).to_pylist() == NEW
    assert seen.has_many(values) == [True] * len(values), "a number is the same key in every width"


def test_other_arrow_arrays() -> None:
    fixed = pa.array([b"ab", b"cd", None, b"ab"], pa.binary(2))
    assert furui.Seen().add_many(fixed).to_pylist() == [True, True, True, False]
    assert furui.Seen().add_many(pa.array([True, None, False, True])).to_pylist() == [True, True, True, False]
    assert furui.Seen().add_many(pa.nulls(3)).to_pylist() == [True, False, False]
    assert furui.Seen().add_many(pa.array([], pa.string())).to_pylist() == []
    for array in [pa.array([1.5]), pa.array([[1]]), pa.array([1], pa.timestamp("s"))]:
        with pytest.raises(TypeError, match="cast them"):
            furui.Seen().add_many(array)
    with pytest.raises(TypeError, match="one column"):
        furui.Seen().add_many(pa.table({"a": [1], "b": [2]}))


def test_numpy() -> None:
    def check(array: Any, expected: list[bool]) -> None:
        seen = furui.Seen()
        answer = seen.add_many(array)
        assert isinstance(answer, np.ndarray)
        assert answer.dtype == np.bool_
        assert answer.tolist() == expected
        assert seen.has_many(array.tolist()) == [True] * len(expected)
        answer[:] = False

    check(np.array([b"abc", b"a", b"abc", b""]), [True, True, False, True])
    check(np.array(["以前", "a", "以前"]), [True, True, False])
    check(np.array(["a", None, 7, "a"], dtype=object), [True, True, True, False])
    for kind in ["u1", "i1", ">u2", "<i4", ">i8", "u8"]:
        check(np.array([7, 1, 7, 127], dtype=kind), [True, True, False, True])
    check(np.array([-1, 2**63 - 1, -(2**63), -1]), [True, True, True, False])
    check(np.arange(200_000)[::2], [True] * 100_000)
    check(np.array([], dtype="S5"), [])
    for wrong in [np.zeros(3), np.array(["2020-01-01"], dtype="M8[s]"), np.zeros((2, 2), dtype=int)]:
        with pytest.raises(TypeError):
            furui.Seen().add_many(wrong)


def test_pandas() -> None:
    for series in [pd.Series(WORDS), pd.Series(WORDS, dtype="string"), pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string()))]:
        seen = furui.Seen()
        answer = seen.add_many(series)
        assert isinstance(answer, np.ndarray)
        assert answer.tolist() == NEW
        assert seen.has_many(WORDS) == [True] * len(WORDS)
    frame = pd.DataFrame({"url": ["a", "b", "a"], "n": [1, 2, 3]}, index=[5, 3, 9])
    assert frame[furui.Seen().add_many(frame["url"])]["n"].tolist() == [1, 2]
    assert furui.Seen().add_many(frame["n"]).tolist() == [True] * 3
    assert furui.Seen().add_many(pd.Series([1, 2, None], dtype="Int64")).tolist() == [True] * 3


def test_polars() -> None:
    seen = furui.Seen()
    answer = seen.add_many(pl.Series(WORDS))
    assert isinstance(answer, pl.Series)
    assert answer.to_list() == NEW
    assert seen.has_many(pl.Series(WORDS, dtype=pl.Categorical)).to_list() == [True] * len(WORDS)
    assert seen.has_many(WORDS) == [True] * len(WORDS)
    assert furui.Seen().add_many(pl.Series([5, None, 5], dtype=pl.Int16)).to_list() == [True, True, False]
    frame = pl.DataFrame({"url": WORDS, "n": range(len(WORDS))})
    seen = furui.Seen()
    assert frame.filter(seen.add_many(frame["url"]))["n"].to_list() == [i for i, new in enumerate(NEW) if new]
    lazy = frame.lazy().filter(pl.col("url").map_batches(seen.add_many, return_dtype=pl.Boolean))
    assert lazy.collect().height == 0


def test_duckdb() -> None:
    seen = furui.Seen()
    with duckdb.connect() as db:
        relation = db.sql("select 'https://example.org/' || (i % 1000) as url from range(5000) t(i)")
        answer = seen.add_many(relation.arrow().read_all()["url"])
        assert sum(answer.to_pylist()) == 1000
        assert furui.Seen().add_many(Foreign(relation.arrow())).to_list() == answer.to_pylist()


def test_a_library_that_is_not_known() -> None:
    seen = furui.Seen()
    answer = seen.add_many(Foreign(pa.chunked_array([["a", "b"], ["a"]])))
    assert isinstance(answer, furui.Answers)
    assert answer.to_list() == [True, True, False] == list(answer)
    assert (len(answer), answer[-1], answer[0]) == (3, False, True)
    with pytest.raises(IndexError, match="3 answers"):
        answer[3]
    assert pa.array(answer).to_pylist() == [True, True, False]
    assert pl.Series(answer).to_list() == [True, True, False]


def test_iterables() -> None:
    def letters() -> Iterator[str]:
        yield from "aba"

    makers: list[Callable[[], Any]] = [letters, lambda: iter("aba"), lambda: ("a", "b", "a"), lambda: map(str, "aba")]
    for make in makers:
        assert furui.Seen().add_many(make()) == [True, True, False]
    assert sorted(furui.Seen().add_many({"a", "b"})) == [True, True]
    assert furui.Seen().add_many([uuid.UUID(int=1), uuid.UUID(int=1)]) == [True, False]

    def broken() -> Iterator[str]:
        yield "a"
        raise RuntimeError("the source broke")

    seen = furui.Seen()
    with pytest.raises(RuntimeError, match="the source broke"):
        seen.add_many(broken())
    assert len(seen) == 0


def test_filters_and_dictionaries_take_the_same_batches(tmp_path: Any) -> None:
    words = furui.Bloom.with_rate(1000, 1e-6)
    assert words.update(pa.array(["a", "b"])) == 2
    assert words.has_many(pl.Series(["a", "c"])).to_list() == [True, False]
    assert words.has_many(np.array([b"b", b"c"])).tolist() == [True, False]
    numbers = furui.Dict(tmp_path / "dict")
    assert numbers.number_many(pa.array(["x", "y", "x"])).to_pylist() == [0, 1, 0]
    assert numbers.number_many(pl.Series(["z"])).to_list() == [2]
    assert numbers.number_many(np.array([b"x", b"w"])).tolist() == [0, 3]
    assert numbers.get_many(pa.array(["x", "no"])).to_pylist() == [0, None]
    assert numbers.get_many(["x", "no"]) == [0, None]
