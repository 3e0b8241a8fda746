"""A type checker refuses what the module refuses, and knows what it returns. The stubs are those of the module."""

import subprocess
import sys
from pathlib import Path

CODE = """
from collections import deque
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import furui
import numpy as np
import polars as pl

seen = furui.Seen("store", sync=None, memory="64MiB")
words = furui.Bloom.with_rate(10, 0.1)
names = furui.Dict("names", layout="compact", merging="all", window="10K")


def urls() -> Iterator[str]:
    yield "a"


new: bool = seen.add("a") or seen.add(b"a") or seen.add(1) or seen.add(None) or seen.add(uuid4())
new = seen.add(np.int64(1)) or seen.add(np.str_("a")) or seen.add(True) or seen.has(np.uint8(1))
answers: list[bool] = seen.add_many(["a", b"b", 1, None]) + seen.add_many(("a",)) + seen.add_many({"a"})
answers = seen.add_many(urls()) + seen.add_many(iter("ab")) + seen.add_many(map(str, range(3)))
answers = seen.add_many(range(3)) + seen.add_many(deque("ab")) + seen.add_many({"a": 1}.keys())
answers = seen.has_many(str(i) for i in range(3)) + seen.has_many({1: "a"}.values())
masks: list[Any] = [seen.add_many(np.array([1])), seen.add_many(pl.Series(["a"])), seen.add_many(pl.DataFrame())]
count: int = seen.discard_many(["a"]) + seen.discard_many(np.array([1])) + words.update(urls()) + names.pop("a", 1)
place: Path | None = seen.path
mapping: MutableMapping[str, int] = names
both: furui.Bloom = words | words
names.update({"a": 1}, b=2)
names["a"] = np.int64(1)
numbers: list[int] = names.number_many(["a", None])
floats, integers = [1.5], [5]

seen.add(1.5)  # refused
seen.add(["a"])  # refused
seen.add_many("abc")  # refused
seen.add_many(b"abc")  # refused
seen.add_many(bytearray(b"abc"))  # refused
seen.add_many(5)  # refused
seen.add_many(None)  # refused
seen.add_many(floats)  # refused
seen.add_many({"a": 1})  # refused
seen.has_many("abc")  # refused
seen.discard_many("abc")  # refused
words.update("abc")  # refused
words.has_many(5)  # refused
furui.Bloom()  # refused
furui.Filter()  # refused
furui.QuotientFilter()  # refused
names.number(5)  # refused
names.number_many(integers)  # refused
names["a"] = None  # refused
names[5] = 1  # refused
furui.Dict("names", layout="trie")  # refused
"""


def test_what_a_type_checker_refuses(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(CODE)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if " error: " in line}
    expected = {number for number, line in enumerate(CODE.splitlines(), 1) if line.endswith("# refused")}
    assert found == expected, done.stdout


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    folder = Path(__file__).parent
    options = ["--allowlist", str(folder / "stubtest.txt"), "--mypy-config-file", str(folder.parent / "pyproject.toml")]
    command = [sys.executable, "-m", "mypy.stubtest", "furui", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
