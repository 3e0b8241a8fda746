"""A dictionary answers as Python's own dict does, in the order of its keys, and across runs."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import furui
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def test_numbers_and_values(store: Path) -> None:
    with furui.Dict(store) as words:
        assert [words.number(key) for key in ["seen", "before", "seen"]] == [0, 1, 0]
        words["see"] = 7
        words.update({"so": 2**32 - 1, b"by": 3})
        words.update([("so", 4)])
        assert words["see"] == 7 and words.get("so") == 4 and words.get("none", "default") == "default"
        assert "see" in words and "none" not in words
        assert len(words) == 5
        assert list(words) == ["before", "by", "see", "seen", "so"]
        del words["by"]
        failing: list[Callable[[], Any]] = [lambda: words["by"], lambda: words.__delitem__("by")]
        for missing in failing:
            with pytest.raises(KeyError, match="by"):
                missing()
    with furui.Dict(store) as words:
        assert dict(words.items()) == {"before": 1, "see": 7, "seen": 0, "so": 4}
        assert words.number("new") == 2, "no number is given twice"
    with pytest.raises(ValueError, match="closed"):
        words["a"]


def test_ranges_and_prefixes(store: Path) -> None:
    words = furui.Dict(store, text=False)
    for i in range(5000):
        words[f"{i:04}"] = i
    assert list(words.keys(prefix="12")) == [b"%d" % i for i in range(1200, 1300)]
    assert list(words.values(start="0998", stop="1003")) == [998, 999, 1000, 1001, 1002]
    assert list(words.items(start=b"4999")) == [(b"4999", 4999)]
    assert list(words.keys(stop="0001")) == [b"0000"]
    assert list(words.values()) == list(range(5000))
    before = words.keys()
    words["zzz"] = 1
    assert b"zzz" not in list(before), "an iterator sees the dictionary as it was"
    assert words.longest_prefix("12345") == (b"1234", 1234)
    assert words.longest_prefix("x") is None
    with pytest.raises(furui.ConfigError, match="excludes"):
        words.keys(prefix="a", start="b")


def test_values_of_bytes(store: Path) -> None:
    with furui.Dict(store, values="bytes") as titles:
        titles["http://example.org/"] = "Example"
        titles["http://example.org/logo"] = b"\x89P"
        assert titles["http://example.org/"] == b"Example"
        assert titles.get_many(["http://example.org/logo", "x"]) == [b"\x89P", None]
        with pytest.raises(furui.Error, match="dictionary of numbers"):
            titles.number("a")
    assert furui.Dict(store, read_only=True)["http://example.org/"] == b"Example"
    with pytest.raises(furui.ConfigError):
        furui.Dict(store, values="numbers")
    with pytest.raises(furui.ConfigError, match="values must be"):
        furui.Dict(store, values="floats")  # type: ignore[arg-type]


def test_a_dictionary_keeps_what_its_values_are(store: Path) -> None:
    with furui.Dict(store, values="counts") as counts:
        counts["a"] = 5
        with pytest.raises(furui.Error, match="dictionary of counts.*dictionary of numbers"):
            counts.number("a")
        with pytest.raises(furui.Error, match="dictionary of counts"):
            counts.number_many(["a"])
    with furui.Dict(store) as counts, pytest.raises(furui.Error, match="dictionary of counts"):
        counts.number("b")
    for other in ["numbers", "values", "bytes"]:
        with pytest.raises(furui.ConfigError, match="dictionary of counts"):
            furui.Dict(store, values=other)  # type: ignore[arg-type]
    assert dict(furui.Dict(store, read_only=True).items()) == {"a": 5}


def test_numbers_go_on_above_those_that_were_put(store: Path) -> None:
    with furui.Dict(store) as words:
        words.update({"a": 0, "b": 1})
        assert words.number_many(["a", "b", "c"]) == [0, 1, 2]
        words["last"] = 2**32 - 1
        words["four"] = 4
        del words["four"]
    with furui.Dict(store) as words:
        assert words.number_many(["d", "four"]) == [3, 5]


def test_one_writer(store: Path) -> None:
    with furui.Dict(store) as words:
        words["a"] = 1
        words.sync()
        with pytest.raises(furui.LockedError):
            furui.Dict(store)
        with furui.Dict(store, read_only=True) as reader:
            assert reader["a"] == 1
            changes: list[Callable[[], Any]] = [
                lambda: reader.__setitem__("b", 2),
                lambda: reader.number("b"),
                lambda: reader.__delitem__("a"),
                reader.compact,
                reader.sync,
            ]
            for change in changes:
                with pytest.raises(furui.Error, match="reading only"):
                    change()
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(words)


def test_values_and_keys_that_cannot_be(store: Path) -> None:
    words = furui.Dict(store)
    wrong: list[Any] = [-1, 2**32, "text", None, 1.5]
    for value in wrong:
        with pytest.raises(furui.ConfigError, match="number from 0"):
            words["a"] = value
    with pytest.raises(TypeError, match="a key must be"):
        words[1.5] = 1  # type: ignore[index]
    with pytest.raises(furui.ConfigError):
        words["x" * 100_000_000] = 1
    assert len(words) == 0


def test_damage_is_told(store: Path) -> None:
    with furui.Dict(store) as words:
        words.update((f"key {i}", i) for i in range(20_000))
    file = max(store.iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(furui.DamageError) as caught:
        words = furui.Dict(store, read_only=True)
        for i in range(20_000):
            assert words[f"key {i}"] == i
    assert caught.value.path == str(file)


keys = st.one_of(st.text("ab\udcff", max_size=4), st.binary(max_size=2))


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from("ppdgsc"), keys, st.integers(0, 2**32 - 1)), max_size=60))
def test_a_dictionary_is_as_pythons_dict(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | bytes, int]]
) -> None:
    path = tmp_path_factory.mktemp("model") / "store"
    words, model = furui.Dict(path, text=False), dict[bytes, int]()
    for step, key, value in steps:
        data = key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key
        match step:
            case "p":
                words[key] = value
                model[data] = value
            case "d" if data in model:
                del words[key]
                del model[data]
            case "s":
                words.sync()
            case "c":
                words.close()
                words = furui.Dict(path, text=False)
        assert words.get(key) == model.get(data)
        assert (key in words) == (data in model)
    assert list(words.items()) == sorted(model.items())
    assert len(words) == len(model)
    start, stop = sorted([b"a", b"ab"])
    assert list(words.keys(start=start, stop=stop)) == [key for key in sorted(model) if start <= key < stop]
    assert list(words.keys(prefix=b"a")) == [key for key in sorted(model) if key.startswith(b"a")]
