"""pandas needs no pyarrow: the keys and the answers are the same without it."""

import subprocess
import sys
from typing import Any

import furui
import numpy as np
import pytest

PROGRAM = """
import sys

if "hidden" in sys.argv:
    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "pyarrow":
                raise ImportError("pyarrow is not installed")

    sys.meta_path.insert(0, Hidden())

import furui
import numpy as np
import pandas as pd

columns = [
    pd.Series(["a", None, "a"]),
    pd.Series(["a", None, "a"], dtype="string"),
    pd.Series(["a", None, "a"], dtype="str"),
    pd.Series(["a", None, "a"], dtype=object),
    pd.Series(["a", None, "a"], dtype="category"),
    pd.Series([1, 2, 1], dtype="category"),
    pd.Series([1, 2, 1]),
    pd.Series([1, None, 1], dtype="Int64"),
    pd.Series([1, None, 1], dtype="UInt8"),
    pd.Series([True, False, True]),
    pd.Series([True, None, True], dtype="boolean"),
    pd.Series([None, None]),
    pd.Series([float("nan")]),
    pd.Series([], dtype="category"),
    pd.Series([], dtype="string"),
    pd.Series([b"a", b"b"]),
    pd.Series(["a", 1, 2**63, b"a"], dtype=object),
    pd.Series([2**63, 1], dtype=object),
    pd.Series(["\\ud83d", "a"], dtype=object),
    pd.Series(["a", float("nan"), pd.NA, pd.NaT], dtype=object),
    pd.Index(["a", "b", "a"]),
    pd.Series(["a", "b"], dtype="category").array,
    pd.DataFrame({"key": ["a", "b", "a"]}),
    pd.DataFrame({"key": ["a", "b", "a"]}, index=[3, 1, 2]),
]
seen = furui.Seen(hash="xxh3:0")
for column in columns:
    answer = furui.Seen().add_many(column)
    assert isinstance(answer, np.ndarray), type(answer)
    values = column["key"].tolist() if isinstance(column, pd.DataFrame) else column.tolist()
    assert answer.tolist() == furui.Seen().add_many(values), values
    seen.add_many(column)
    assert all(seen.has_many(values)) and all(seen.has_many(column))
    print(type(column).__name__, answer.tolist(), len(seen))
for column in [pd.Series([1.5]), pd.Series([pd.Timestamp(0)]), pd.Series([["a"]]), pd.Series([{"a": 1}])]:
    try:
        print(seen.add_many(column))
    except TypeError:
        print("TypeError")
assert ("pyarrow" in sys.modules) == ("hidden" not in sys.argv)
"""


class Column:
    """A column of a library that needs pyarrow for its Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise ImportError("pyarrow is not installed")

    def to_numpy(self) -> Any:
        return np.array(["a", "b", "a"])


def test_another_library_without_pyarrow() -> None:
    assert list(furui.Seen().add_many(Column())) == [True, True, False]


@pytest.fixture(scope="module")
def printed() -> list[str]:
    outputs = []
    for argument in ["shown", "hidden"]:
        done = subprocess.run([sys.executable, "-c", PROGRAM, argument], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    return outputs


def test_the_keys_are_the_same(printed: list[str]) -> None:
    shown, hidden = printed
    assert hidden == shown
    assert shown.count("TypeError") == 4 and len(shown.splitlines()) == 28
