#!/usr/bin/env python3
"""`furui seen` on a large set: CPU time a line, anonymous memory, bytes a key.

Usage: python3 bench/scale.py FURUI DIR LINES MEMORY

Distinct lines of ten digits go through `furui seen --store DIR/store --memory MEMORY`; then the store is compacted, and ten
million lines are looked up in it, of which half are there.
"""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

FURUI, DIR, LINES, MEMORY = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
STORE = DIR / "store"
FIRST = 1_000_000_000
ASKED = 10_000_000


def anonymous(process: int) -> int:
    try:
        with open(f"/proc/{process}/status") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) * 1024
    except OSError:
        return 0


def run(lines: list[str], *arguments: str) -> tuple[float, int]:
    """CPU seconds of furui with lines of seq as its input, and its largest anonymous memory, looked at every 0.2 s."""
    source = subprocess.Popen(["seq", *lines], stdout=subprocess.PIPE)
    process = subprocess.Popen([FURUI, *arguments], stdin=source.stdout, stdout=subprocess.DEVNULL)
    assert source.stdout is not None
    source.stdout.close()
    largest, ended = 0, threading.Event()

    def watch() -> None:
        nonlocal largest
        while not ended.wait(0.2):
            largest = max(largest, anonymous(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    ended.set()
    watcher.join()
    source.wait()
    if os.waitstatus_to_exitcode(status) > 1:
        raise SystemExit(f"furui failed: {arguments}")
    return usage.ru_utime + usage.ru_stime, largest


shutil.rmtree(STORE, ignore_errors=True)
cpu, memory = run([str(FIRST), str(FIRST + LINES - 1)], "seen", "--store", str(STORE), "--memory", MEMORY)
print(f"seen: {cpu / LINES * 1e9:.0f} ns of CPU a line, {memory / 2**20:.0f} MiB of anonymous memory at most")
cpu, _ = run(["0", "-1"], "compact", str(STORE))
size = sum(file.stat().st_size for file in STORE.iterdir())
print(f"compact: {cpu:.1f} s of CPU, {size / LINES:.3f} bytes a key")
step = max(LINES // ASKED, 1) * 2 if LINES > ASKED else 1
start = FIRST + LINES - ASKED // 2 * step
for _ in range(2):
    cpu, _ = run([str(start), str(step), str(start + (ASKED - 1) * step)], "has", "-v", str(STORE))
    print(f"has: {cpu / ASKED * 1e9:.0f} ns of CPU a question")
