"""CPU nanoseconds a key of furui's Python module and of its rivals, in one process.

Usage: python bench.py [KEYS [ROUNDS]]. It needs pyarrow and rbloom. bench/runs has a recorded run.
"""

import gc
import hashlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import furui
import pyarrow as pa
import rbloom

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
RATE = 0.01
PART = 10_000

times: dict[str, list[float]] = {}


def urls() -> list[str]:
    """Strings of 45 to 60 bytes, whose hash Python has not computed yet."""
    return [f"https://www.example{i % 977}.org/path/{i * 2654435761 % 2**32}/page-{i}.html" for i in range(KEYS)]


def measure(name: str, work: Callable[[], Any], keys: int = KEYS) -> None:
    gc.collect()
    gc.disable()
    start = time.process_time()
    work()
    times.setdefault(name, []).append((time.process_time() - start) / keys * 1e9)
    gc.enable()


def call_each(function: Callable[[Any], Any], keys: list[Any]) -> None:
    for key in keys:
        function(key)


def look_up_each(container: Any, keys: list[Any]) -> None:
    for key in keys:
        key in container


def python_set(known: set[str], keys: list[str]) -> None:
    for key in keys:
        if key not in known:
            known.add(key)


def saved_hash(key: bytes) -> int:
    """The kind of hash that rbloom's documentation gives for filters that are saved."""
    return int.from_bytes(hashlib.sha256(key).digest()[:16], "big", signed=True)


for _ in range(ROUNDS):
    known: set[str] = set()
    data, again = urls(), urls()
    measure("set: if key not in s: s.add(key), new", lambda: python_set(known, data))
    measure("set, repeats", lambda: python_set(known, again))
    del known
    data, again = urls(), urls()
    seen = furui.Seen()
    measure("Seen.add(str), new", lambda: call_each(seen.add, data))
    measure("Seen.add(str), repeats", lambda: call_each(seen.add, again))
    measure("str in Seen", lambda: look_up_each(seen, again))
    parts = [data[start : start + PART] for start in range(0, KEYS, PART)]
    seen = furui.Seen()
    measure("Seen.add_many(list of 10,000), new", lambda: call_each(seen.add_many, parts))
    measure("Seen.add_many(list of 10,000), repeats", lambda: call_each(seen.add_many, parts))
    seen = furui.Seen()
    measure("Seen.add_many(list of all), new", lambda: seen.add_many(data))
    measure("Seen.add_many(list of all), repeats", lambda: seen.add_many(data))
    column = pa.array(data, pa.large_string())
    seen = furui.Seen()
    measure("Seen.add_many(Arrow), new", lambda: seen.add_many(column))
    measure("Seen.add_many(Arrow), repeats", lambda: seen.add_many(column))
    for kind in (furui.BlockedBloom, furui.Bloom):
        data, again = urls(), urls()
        words = kind.with_rate(KEYS, RATE)
        measure(f"{kind.__name__}.add(str)", lambda: call_each(words.add, data))
        measure(f"str in {kind.__name__}", lambda: look_up_each(words, again))
        measure(f"{kind.__name__}.update(list)", lambda: words.update(again))
    data, again = urls(), urls()
    fast = rbloom.Bloom(KEYS, RATE)
    measure("rbloom.add(str), cannot be saved", lambda: call_each(fast.add, data))
    measure("str in rbloom, cannot be saved", lambda: look_up_each(fast, again))
    few = [key.encode() for key in data[: KEYS // 10]]
    savable = rbloom.Bloom(KEYS, RATE, saved_hash)
    measure("rbloom.add(bytes), can be saved", lambda: call_each(savable.add, few), len(few))
    measure("bytes in rbloom, can be saved", lambda: look_up_each(savable, few), len(few))

print("| ns of CPU a key | median | least | most |")
print("|---|--:|--:|--:|")
for name, figures in times.items():
    print(f"| {name} | {statistics.median(figures):.0f} | {min(figures):.0f} | {max(figures):.0f} |")
