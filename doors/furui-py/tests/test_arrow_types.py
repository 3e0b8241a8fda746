"""An array of any Arrow type gives the keys that a list of its values gives, or is refused by its type."""

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import furui
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

TEXTS = ["a", "b", "", "a", "x" * 300]
DATA = [text.encode() for text in TEXTS]
DAYS = [datetime.date(2026, 11, day) for day in (1, 2, 1, 3, 4)]
TIMES = [datetime.datetime(2026, 11, day, tzinfo=datetime.UTC) for day in (1, 2, 1, 3, 4)]
SPANS = [datetime.timedelta(seconds=number) for number in (1, 2, 1, 3, 4)]
DECIMALS = [decimal.Decimal(f"{number}.5") for number in (1, 2, 1, 3, 4)]
FLOATS = [0.5, 1.5, 0.5, 2.5, 3.5]
UNIX = [1, 2, 1, 3, 4]


def keys() -> Iterator[tuple[Any, list[Any]]]:
    """The types that give keys, and values of each."""
    for kind in [pa.string(), pa.large_string(), pa.string_view()]:
        yield kind, TEXTS
    for kind in [pa.binary(), pa.large_binary(), pa.binary_view()]:
        yield kind, DATA
    yield pa.binary(2), [b"ab", b"cd", b"ab", b"\0\0", b"xy"]
    yield pa.uuid(), [bytes([number] * 16) for number in UNIX]
    yield pa.json_(), ["1", "[]", "1", "{}", '""']
    for name in ["int8", "int16", "int32", "int64"]:
        yield getattr(pa, name)(), [0, -1, 0, 127, -128]
        yield getattr(pa, f"u{name}")(), [0, 1, 0, 127, 255]
    yield pa.bool_(), [True, False, True, False, True]
    yield pa.bool8(), [1, 0, 1, 0, 1]
    yield pa.null(), [None] * 5
    yield Own(pa.string()), TEXTS
    yield Own(pa.large_binary()), DATA


def others() -> Iterator[tuple[Any, list[Any]]]:
    """The types whose values are no keys."""
    for kind in [pa.float16(), pa.float32(), pa.float64()]:
        yield kind, FLOATS
    for kind in [pa.decimal32(5, 1), pa.decimal64(5, 1), pa.decimal128(5, 1), pa.decimal256(50, 1)]:
        yield kind, DECIMALS
    yield from [(pa.date32(), DAYS), (pa.date64(), DAYS)]
    yield from [(pa.time32(unit), UNIX) for unit in ("s", "ms")]
    yield from [(pa.time64(unit), UNIX) for unit in ("us", "ns")]
    for unit in ("s", "ms", "us", "ns"):
        yield pa.timestamp(unit), TIMES
        yield pa.timestamp(unit, "Europe/Berlin"), TIMES
        yield pa.duration(unit), SPANS
    yield pa.month_day_nano_interval(), [(number, 0, 0) for number in UNIX]
    lists = [[text] for text in TEXTS]
    for kind in [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]:
        yield kind(pa.string()), lists
    yield pa.list_(pa.string(), 1), lists
    yield pa.map_(pa.string(), pa.int8()), [[(text, 1)] for text in TEXTS]
    yield pa.struct([("a", pa.string())]), [{"a": text} for text in TEXTS]
    yield pa.struct([("a", pa.string()), ("b", pa.int8())]), [{"a": text, "b": 1} for text in TEXTS]
    yield pa.struct([("a", pa.struct([("b", pa.string())]))]), [{"a": {"b": text}} for text in TEXTS]
    yield pa.list_(pa.struct([("a", pa.null())])), [[{"a": None}]] * 5
    yield pa.binary(0), [b""] * 5


def array(kind: Any, values: list[Any]) -> Any:
    if isinstance(kind, pa.ExtensionType | pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def special() -> Iterator[tuple[Any, list[Any]]]:
    """Arrays whose types pyarrow makes by functions of their own, which are no keys."""
    run_ends = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(["a", "b"]))
    numbers = pa.array([0, 1, 0, 1, 0], pa.int8())
    dense = pa.UnionArray.from_dense(numbers, pa.array([0, 0, 1, 1, 2], pa.int32()), [pa.array(TEXTS), pa.array(UNIX)])
    sparse = pa.UnionArray.from_sparse(numbers, [pa.array(TEXTS), pa.array(UNIX)])
    tensor = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int8(), [1]), pa.array([[1]] * 5, pa.list_(pa.int8(), 1))
    )
    opaque = pa.ExtensionArray.from_storage(pa.opaque(pa.binary(2), "number", "vendor"), pa.array([b"ab"] * 5, pa.binary(2)))
    hidden = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "number", "vendor"), pa.array(TEXTS))
    own = pa.ExtensionArray.from_storage(Own(pa.int64()), pa.array(UNIX))
    period = pa.array(pd.period_range("2026", periods=5, freq="D"))
    for each in [run_ends, dense, sparse, tensor, opaque, hidden, own, period]:
        yield each, []


class Own(pa.ExtensionType):  # type: ignore[misc]
    """A type of somebody's own."""

    def __init__(self, storage: Any) -> None:
        super().__init__(storage, "own.type")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> "Own":
        return cls(storage)


def coded(values: Any, codes: Any) -> Any:
    return pa.DictionaryArray.from_arrays(codes, values)


def shapes(whole: Any) -> Iterator[Any]:
    """The same values in other arrays: of one row, none, slices, chunks, a table's column, and readers."""
    yield whole
    yield whole[:0]
    yield whole[1:2]
    yield whole[2:]
    yield whole[1:4][1:]
    yield pa.chunked_array([whole[:2], whole[2:2], whole[2:]])
    yield pa.chunked_array([], whole.type)
    yield pa.table({"key": whole})
    yield pa.table({"key": whole})[:0]
    yield pa.record_batch({"key": whole})
    yield pa.table({"key": whole}).to_reader(2)


def check_keys(whole: Any, values: list[Any]) -> None:
    for number, shape in enumerate(shapes(whole)):
        places = list(shapes(pa.array(range(len(whole)), pa.int64())))[number]
        places = places.read_all() if isinstance(places, pa.RecordBatchReader) else places
        places = places["key"] if isinstance(places, pa.Table | pa.RecordBatch) else places
        expected = [values[place] for place in places.to_pylist()]
        seen, model = furui.Seen(hash="xxh3:0"), furui.Seen(hash="xxh3:0")
        assert seen.add_many(shape).to_pylist() == model.add_many(expected), (number, whole.type)
        assert all(model.has_many(expected)) and all(seen.has_many(expected)), (number, whole.type)
        assert len(seen) == len(model)


@pytest.mark.parametrize(("kind", "values"), [*keys()], ids=lambda value: str(value)[:40])
def test_types_of_keys(kind: Any, values: list[Any]) -> None:
    check_keys(array(kind, values), values)
    some = [None, values[0], None, *values[2:]]
    check_keys(array(kind, some), some)
    check_keys(array(kind, [None] * 5), [None] * 5)


# A dictionary of an extension type, or of nulls, cannot be made.
PLAIN = [(kind, values) for kind, values in keys() if not isinstance(kind, pa.BaseExtensionType) and kind != pa.null()]


@pytest.mark.parametrize(("kind", "values"), PLAIN, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("code", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64()], ids=str)
def test_dictionaries(kind: Any, values: list[Any], code: Any) -> None:
    for some in [values, [None, *values[1:]]]:
        places: list[list[Any]] = [[0, 1, 2, 3, 4], [4, None, 0, 4, None], [None] * 5]
        for codes in places:
            whole = coded(array(kind, some), pa.array(codes, code))
            check_keys(whole, [None if place is None else some[place] for place in codes])
    check_keys(coded(array(kind, []), pa.array([None] * 5, code)), [None] * 5)
    assert furui.Seen().add_many(coded(array(kind, []), pa.array([], code))).to_pylist() == []


@pytest.mark.parametrize(("kind", "values"), [*others(), *special()], ids=lambda value: str(value)[:40])
def test_types_of_no_keys(kind: Any, values: list[Any]) -> None:
    arrays = [kind] if isinstance(kind, pa.Array) else [array(kind, values), array(kind, [None, *values[1:]])]
    is_float = not isinstance(kind, pa.Array) and pa.types.is_floating(kind)
    for whole in arrays:
        for shape in shapes(whole):
            seen = furui.Seen()
            rows = shape.read_all().num_rows if isinstance(shape, pa.RecordBatchReader) else len(shape)
            if isinstance(shape, pa.RecordBatchReader):
                shape = pa.table({"key": whole}).to_reader(2)
            if is_float and rows == 0:
                # Floats are refused by their values, since a column of missing values is one of floats in pandas.
                assert len(seen.add_many(shape)) == 0
                continue
            with pytest.raises(TypeError, match="Arrow values of .* are no keys"):
                seen.add_many(shape)
            assert len(seen) == 0


def test_nested_dictionaries() -> None:
    inner = pa.array(["a", "b"]).dictionary_encode()
    outer = coded(inner, pa.array([1, 0, None, 1], pa.int8()))
    seen = furui.Seen()
    assert seen.add_many(outer).to_pylist() == [True, True, True, False]
    assert seen.has_many(["b", "a", None]) == [True] * 3
    with pytest.raises(TypeError, match="Struct"):
        seen.add_many(coded(pa.array([{"a": "b"}]), pa.array([0], pa.int8())))


POLARS = [
    pl.Series([], dtype=pl.Null),
    pl.Series([None, None]),
    pl.Series([], dtype=pl.Categorical),
    pl.Series([None], dtype=pl.Categorical),
    pl.Series([None], dtype=pl.Enum([])),
    pl.Series(["a", None, "a"], dtype=pl.Categorical),
    pl.Series(["b", None], dtype=pl.Enum(["a", "b"])),
    pl.Series([1, None, 2], dtype=pl.Int8),
    pl.Series([b"a", None]),
    pl.Series([True, None]),
]


@pytest.mark.parametrize("series", POLARS, ids=lambda series: f"{series.dtype} {len(series)}")
def test_columns_of_polars(series: Any) -> None:
    for column in [series, series[1:], pl.concat([series, series]), series.to_frame()]:
        values = (column.to_series() if isinstance(column, pl.DataFrame) else column).to_list()
        seen = furui.Seen()
        assert seen.add_many(column).to_list() == furui.Seen().add_many(values)
        assert all(seen.has_many(values))


def test_columns_of_polars_that_are_no_keys() -> None:
    objects = pl.Series(["a", "b"], dtype=pl.Object)
    wrong: list[Any] = [
        (objects, "type Object"),
        (objects.to_frame(), "type Object"),
        (pl.Series([1], dtype=pl.Int128), "type Int128"),
        (pl.LazyFrame({"a": ["a"]}), r"\.collect\(\)"),
        (pl.Series([{"a": "b"}]), "Struct"),
        (pl.Series([{"a": None}]), "Struct"),
        (pl.Series([["a"]]), "List"),
        (pl.Series([1.5]), "Float64"),
        (pl.Series(DAYS), "Date32"),
        (pl.DataFrame({"a": ["a"], "b": ["b"]}), "2 columns"),
    ]
    for batch, text in wrong:
        seen = furui.Seen()
        functions: list[Any] = [seen.add_many, seen.has_many, furui.Bloom.with_rate(10, 0.1).update]
        for function in functions:
            with pytest.raises(TypeError, match=text):
                function(batch)
        assert len(seen) == 0
