"""Threads share one set, forks and signals damage nothing, and nothing leaks."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import furui
import pytest


def python(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Starts Python with some code, whose output is read by the test."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("batched", [False, True])
def test_threads_share_a_set(store: Path, batched: bool) -> None:
    seen = furui.Seen(store, memory="1MiB", sync=0.001)
    new: list[list[int]] = [[] for _ in range(8)]

    def work(thread: int) -> None:
        keys = list(range(30_000))
        random.Random(thread).shuffle(keys)
        if batched:
            for start in range(0, len(keys), 1000):
                part = keys[start : start + 1000]
                new[thread] += [key for key, is_new in zip(part, seen.add_many(part)) if is_new]
        else:
            new[thread] += [key for key in keys if seen.add(key)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(new, [])) == list(range(30_000)), "each key is new for one thread"
    seen.close()
    with furui.Seen(store) as seen:
        assert len(seen) == 30_000


def test_threads_share_a_filter_and_a_dictionary(store: Path) -> None:
    words, numbers = furui.BlockedBloom.with_rate(10_000, 0.01), furui.Dict(store)
    found: list[dict[str, int]] = [{} for _ in range(8)]

    def work(thread: int) -> None:
        keys = [f"key {i}" for i in range(2000)]
        random.Random(thread).shuffle(keys)
        for key in keys:
            words.add(key)
            found[thread][key] = numbers.number(key)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == found[0] for one in found), "a key has one number"
    assert sorted(found[0].values()) == list(range(2000))
    assert all(words.has_many(list(found[0])))


def _ask_parent(seen: furui.Seen, results: "multiprocessing.SimpleQueue[str]") -> None:
    try:
        results.put(str(seen.add("child")))
    except furui.Error as error:
        results.put(str(error))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_to_open_its_own(store: Path) -> None:
    for path in [None, store]:
        seen = furui.Seen(path, sync=0.01)
        seen.add("parent")
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        child = context.Process(target=_ask_parent, args=(seen, results))
        child.start()
        assert "forked" in results.get()
        child.join()
        assert child.exitcode == 0
        # A child that ends as a program does closes nothing, and keeps the parent's lock.
        if os.fork() == 0:
            try:
                del seen
                sys.exit(0)
            except BaseException:
                furui._furui._close_all()
                os._exit(0)
        os.wait()
        if path:
            with pytest.raises(furui.LockedError):
                furui.Seen(path)
        assert seen.add("later")
        seen.close()
    with furui.Seen(store) as seen:
        assert seen.has_many(["parent", "later", "child"]) == [True, True, False]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_set_that_is_closed_is_free_although_a_forked_process_lives(store: Path) -> None:
    seen = furui.Seen(store)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    try:
        seen.close()
        with furui.Seen(store) as again:
            assert again.add("new")
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


ADD = """
import furui, sys
seen = furui.Seen(sys.argv[1], sync=float(sys.argv[2]) if sys.argv[2] else None)
for i in range(10**9):
    seen.add(str(i))
    if i % 1000 == 999:
        print(i, flush=True)
"""


def test_a_killed_process_loses_only_what_was_not_durable(store: Path) -> None:
    known = 0
    for _ in range(5):
        process = python(ADD, store, "0.01")
        assert process.stdout is not None
        for _ in range(40):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        with furui.Seen(store) as seen:
            found = seen.has_many([str(i) for i in range(200_000)])
            assert found == sorted(found, reverse=True), "what is durable is a beginning of what was added"
            assert sum(found) >= known, "what was durable stays"
            known = sum(found)
            assert len(seen) == known
    assert known > 0


IMMEDIATE = """
import furui, sys
seen = furui.Seen(sys.argv[1], sync=0)
for i in range(10**9):
    seen.add(str(i))
    print(i, flush=True)
"""


def test_with_sync_0_a_key_is_durable_when_the_call_returns(store: Path) -> None:
    process = python(IMMEDIATE, store)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(50)]
    process.kill()
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    told += [int(line) for line in rest if line]
    with furui.Seen(store) as seen:
        assert all(seen.has_many([str(i) for i in told[:-1]]))


FORGOTTEN = """
import furui, sys
seen = furui.Seen(sys.argv[1], sync=None)
seen.add_many(["a", "b"])
words = furui.Dict(sys.argv[2])
words["a"] = 1
"""


def test_a_set_that_nobody_closed_is_closed_at_the_end(store: Path, tmp_path: Path) -> None:
    assert python(FORGOTTEN, store, tmp_path / "dict").wait() == 0
    assert furui.Seen(store).add_many(["a", "b", "c"]) == [False, False, True]
    assert furui.Dict(tmp_path / "dict")["a"] == 1


BUSY = """
import furui, sys
seen = furui.Seen()
try:
    print("ready", flush=True)
    seen.add_many(iter(int, 1))
except KeyboardInterrupt:
    print("interrupted", len(seen), flush=True)
"""


def test_control_c_ends_a_long_call() -> None:
    process = python(BUSY)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted 0\n", "a batch that was not read to its end records nothing"
    assert process.wait() == 0
    process.stdout.close()


MEMORY = """
import furui, sys
def anonymous():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) * 1024
def parts(keys):
    for start in range(0, keys, 10_000):
        yield [f"https://www.example.org/path/{i * 2654435761 % 2**32}/page-{i}.html" for i in range(start, start + 10_000)]
"""

LEAK = MEMORY + """
seen, words = furui.Seen(), furui.Bloom.with_rate(1000, 0.01)
part = next(parts(10_000))
def work():
    for _ in range(100):
        seen.add_many(part); words.update(part); words.copy(); seen.has_many(iter(part))
        for key in part[:2000]:
            seen.add(key); key in words
        try:
            seen.add_many([part[0], 1.5])
        except TypeError:
            pass
work()
before = anonymous()
work()
print(anonymous() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="SKIPPED: this system has no smaps_rollup")
def test_a_million_adds_leak_nothing() -> None:
    process = python(LEAK)
    assert process.stdout is not None
    assert int(process.stdout.read()) < 500_000
    assert process.wait() == 0
    process.stdout.close()


LARGE = MEMORY + """
before = anonymous()
seen = furui.Seen(memory="64MiB")
for part in parts(10_000_000):
    seen.add_many(part)
print(len(seen), anonymous() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="SKIPPED: this system has no smaps_rollup")
def test_ten_million_urls_in_64_mib() -> None:
    process = python(LARGE)
    assert process.stdout is not None
    keys, grown = map(int, process.stdout.read().split())
    assert process.wait() == 0
    process.stdout.close()
    assert keys == 10_000_000
    assert grown <= 90_000_000
