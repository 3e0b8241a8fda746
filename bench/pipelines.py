#!/usr/bin/env python3
"""`furui seen` in pipelines, against the programs that people use for the same: wall time, CPU time and peak memory.

Usage: python3 bench/pipelines.py FURUI STREAM DIR [ROUNDS]

FURUI is a release build of the command, STREAM the file stream.txt, and DIR a directory for the files that are made (3 GB).
Programs that are missing are left out: mlr, jq, xan, zcat, and the modules duckdb and polars of PYTHONPATH. Runs of one row
take turns; the table has medians.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

FURUI, STREAM, DIR = sys.argv[1], sys.argv[2], Path(sys.argv[3])
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3
ROWS = 5_000_000

DISTINCT = "select distinct column0 from read_csv('{}', header=false, delim='\x01', quote='', escape='', columns={{'column0': 'VARCHAR'}})"
DUCKDB = "import duckdb, sys; db = duckdb.connect(); db.execute('set threads=2; set preserve_insertion_order=false'); " + (
    "db.execute(f\"copy ({sys.argv[1]}) to '/dev/null' (format csv, header false)\")"
)
POLARS = (
    "import polars as pl, sys; pl.read_csv(sys.argv[1], has_header=False, separator='\\x01', quote_char=None)"
    ".unique(maintain_order=True).write_csv('/dev/null', include_header=False)"
)


def make() -> None:
    """Makes the files that are missing."""
    chance = random.Random(1)
    cities = [f'City "{i}", north\nof here' if i % 50 == 0 else f"City {i}" for i in range(2000)]
    if not (DIR / "rows.csv").exists():
        with open(DIR / "rows.csv", "w", newline="") as out:
            out.write("id,name,city,note\n")
            for i in range(ROWS):
                name, city = f"name {chance.randrange(30_000)}", cities[chance.randrange(100)]
                city = '"' + city.replace('"', '""') + '"'
                out.write(f'{i},{name},{city},"a note, of row {i}"\n')
    if not (DIR / "rows.jsonl").exists():
        with open(DIR / "rows.jsonl", "w") as out:
            for i in range(ROWS):
                url = f"https://example.org/{chance.randrange(2_000_000)}"
                out.write(f'{{"id": {i}, "meta": {{"url": "{url}", "lang": "en"}}, "text": "row {i}"}}\n')
    if not (DIR / "stream.gz").exists():
        with open(DIR / "stream.gz", "wb") as out:
            subprocess.run(["gzip", "-6", "--stdout", STREAM], stdout=out, check=True)


def run(command: str) -> tuple[float, float, float]:
    """Wall and CPU seconds, and peak memory in MB, of a shell command."""
    start = time.perf_counter()
    process = subprocess.Popen(["bash", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"failed: {command}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def there(*names: str) -> bool:
    return all(
        subprocess.run(["bash", "-c", f"type {name} || python3 -c 'import {name}'"], capture_output=True).returncode == 0
        for name in names
    )


def main() -> None:
    make()
    csv, jsonl, gz = DIR / "rows.csv", DIR / "rows.jsonl", DIR / "stream.gz"
    python = "python3 -c"
    groups: list[list[tuple[str, str, str]]] = [
        [
            ("", "one thread", f"{FURUI} seen --threads 1 {STREAM} > /dev/null"),
            ("", "two threads", f"{FURUI} seen --threads 2 {STREAM} > /dev/null"),
            ("duckdb", "DuckDB, distinct, no order", f'{python} "$DUCKDB" "{DISTINCT.format(STREAM)}"'),
            ("polars", "Polars, unique, in order", f'{python} "$POLARS" {STREAM}'),
        ],
        [
            ("", "into a pipe, one thread", f"{FURUI} seen --threads 1 {STREAM} | cat > /dev/null"),
            ("", "into a pipe, two threads", f"{FURUI} seen --threads 2 {STREAM} | cat > /dev/null"),
        ],
        [
            ("", "gzip", f"{FURUI} seen {gz} > /dev/null"),
            ("zcat", "zcat > /dev/null", f"zcat {gz} > /dev/null"),
        ],
        [
            ("", "CSV, key name,city", f"{FURUI} seen --csv --key name,city {csv} > /dev/null"),
            ("xan", "xan dedup -s name,city", f"xan dedup -s name,city {csv} > /dev/null"),
            ("mlr", "mlr head -n 1 -g name,city", f"mlr --icsv --ocsv head -n 1 -g name,city {csv} > /dev/null"),
        ],
        [
            ("", "JSON lines, key /meta/url", f"{FURUI} seen --json --key /meta/url {jsonl} > /dev/null"),
            ("duckdb", "DuckDB, distinct on (meta.url), rows", f'{python} "$DUCKDB" "select distinct on (meta.url) * from read_json(\'{jsonl}\')"'),
            ("duckdb", "DuckDB, distinct meta.url alone", f'{python} "$DUCKDB" "select distinct meta.url from read_json(\'{jsonl}\')"'),
            ("jq", "jq, reading the pointer alone", f"jq -r .meta.url {jsonl} > /dev/null"),
        ],
    ]
    os.environ.update(DUCKDB=DUCKDB, POLARS=POLARS)
    print("| | wall s | CPU s | peak MB | wall of the first row |")
    print("|---|--:|--:|--:|--:|")
    for group in groups:
        rows = [(name, command) for needs, name, command in group if not needs or there(needs)]
        seen: dict[str, list[tuple[float, float, float]]] = {name: [] for name, _ in rows}
        for _ in range(ROUNDS):
            for name, command in rows:
                seen[name].append(run(command))
        first = statistics.median(wall for wall, _, _ in seen[rows[0][0]])
        for name, figures in seen.items():
            wall, cpu, peak = (statistics.median(column) for column in zip(*figures))
            print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {wall / first:.2f} |", flush=True)


main()
