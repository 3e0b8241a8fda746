#!/usr/bin/env python3
"""`furui seen` in pipelines, against the programs that people use for the same: wall time, CPU time and peak memory.

Usage: python3 bench/pipelines.py FURUI STREAM DIR [ROUNDS [PROGRAM...]]

FURUI is a release build of the command, STREAM a file of lines, which is made up if it is missing, and DIR a directory
for the other files that are made (1.5 GB in all). Programs that are missing are left out, and if any are named, all
others: huniq, sort, mlr, jq, xan, zcat, and the modules duckdb and polars of PYTHONPATH. Runs of one group take turns;
the table has medians. First it is checked that the programs that do the same print the same lines.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

FURUI, STREAM, DIR = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3
ONLY = sys.argv[5:]
ROWS = 5_000_000
LINES = 8_000_000

NULL = " > /dev/null"
# Nobody waits for the reader, so its time is not measured.
PIPE = " > >(cat > /dev/null)"

DISTINCT = "select distinct column0 from read_csv('{}', header=false, delim='\x01', quote='', escape='', columns={{'column0': 'VARCHAR'}})"
DUCKDB = "import duckdb, sys; db = duckdb.connect(); db.execute('set threads=2; set enable_progress_bar=false; set preserve_insertion_order=false'); " + (
    "db.execute(f\"copy ({sys.argv[1]}) to '/dev/stdout' ({sys.argv[2]})\")"
)
POLARS = (
    "import polars as pl, sys; pl.read_csv(sys.argv[1], has_header=False, separator='\\x01', quote_char=None)"
    ".unique(maintain_order=True).write_csv('/dev/stdout', include_header=False)"
)


def runs(*programs: str) -> bool:
    """If one of these programs is among those that are named."""
    return not ONLY or any(program in ONLY for program in programs)


def make() -> None:
    """Makes the files that are missing, each the same at every time."""
    if not STREAM.exists():
        chance, pages = random.Random(1), 0
        with open(DIR / "unfinished", "w") as out:
            for _ in range(LINES):
                # As in the crawl of the recorded runs, 36 of 100 lines are new.
                page = pages if chance.random() < 0.36 else int(pages * chance.random() ** 2)
                pages += page == pages
                site, path = page * 7919 % 50_021, page * 0x9E3779B97F4A7C15 % 2**64
                out.write(f"https://www.site{site}.example/pages/{path:016x}/page{page}.html\n")
        (DIR / "unfinished").rename(STREAM)
    if not (DIR / "rows.csv").exists() and runs("xan", "mlr"):
        chance = random.Random(2)
        with open(DIR / "unfinished", "w", newline="") as out:
            out.write("id,name,city,note\n")
            for i in range(ROWS):
                name, city = f"name {chance.randrange(30_000)}", chance.randrange(100)
                city = f'"City ""{city}"", north\nof here"' if city % 50 == 0 else f"City {city}"
                out.write(f'{i},{name},{city},"a note, of row {i}"\n')
        (DIR / "unfinished").rename(DIR / "rows.csv")
    if not (DIR / "rows.jsonl").exists() and runs("duckdb", "jq"):
        chance = random.Random(3)
        with open(DIR / "unfinished", "w") as out:
            for _ in range(ROWS):
                # Rows of one URL are the same, because DuckDB prints any of them.
                page = chance.randrange(2_000_000)
                url = f"https://example.org/{page}"
                out.write(f'{{"id":{page},"meta":{{"url":"{url}","lang":"en"}},"text":"row {page}"}}\n')
        (DIR / "unfinished").rename(DIR / "rows.jsonl")
    if not (DIR / "stream.gz").exists() and runs("zcat"):
        with open(DIR / "stream.gz", "wb") as out:
            subprocess.run(["gzip", "-6", "--stdout", STREAM], stdout=out, check=True)


def lines(command: str) -> str:
    """A checksum of the lines that a command of a row prints, in any order."""
    whole = ["bash", "-o", "pipefail", "-c", f"{command} | LC_ALL=C sort -S 1G | cksum"]
    return subprocess.run(whole, stdout=subprocess.PIPE, check=True).stdout.decode()


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
    as_csv, as_json = '"format csv, header false"', '"format json"'
    # What a row needs, its name, its command, and if it prints the lines of the first row.
    groups: list[tuple[str, list[tuple[str, str, str, bool]]]] = [
        (NULL, [
            ("", "one thread", f"{FURUI} seen --threads 1 {STREAM}", True),
            ("", "two threads", f"{FURUI} seen --threads 2 {STREAM}", True),
            ("duckdb", "DuckDB, distinct, no order", f'{python} "$DUCKDB" "{DISTINCT.format(STREAM)}" {as_csv}', True),
            ("polars", "Polars, unique, in order", f'{python} "$POLARS" {STREAM}', True),
        ]),
        (PIPE, [
            ("", "into a pipe, one thread", f"{FURUI} seen --threads 1 {STREAM}", True),
            ("", "into a pipe, two threads", f"{FURUI} seen --threads 2 {STREAM}", True),
            ("huniq", "huniq, into a pipe", f"huniq < {STREAM}", True),
            ("sort", "sort -u, into a pipe", f"LC_ALL=C sort -u -S 1G < {STREAM}", True),
        ]),
        (NULL, [
            ("zcat", "gzip", f"{FURUI} seen {gz}", True),
            ("zcat", "zcat", f"zcat {gz}", False),
        ]),
        (NULL, [
            ("", "CSV, key name,city", f"{FURUI} seen --csv --key name,city {csv}", True),
            ("xan", "xan dedup -s name,city", f"xan dedup -s name,city {csv}", True),
            ("mlr", "mlr head -n 1 -g name,city", f"mlr --icsv --ocsv head -n 1 -g name,city {csv}", False),
        ]),
        (NULL, [
            ("", "JSON lines, key /meta/url", f"{FURUI} seen --json --key /meta/url {jsonl}", True),
            ("duckdb", "DuckDB, distinct on (meta.url), rows", f'{python} "$DUCKDB" "select distinct on (meta.url) * from read_json(\'{jsonl}\')" {as_json}', True),
            ("duckdb", "DuckDB, distinct meta.url alone", f'{python} "$DUCKDB" "select distinct meta.url from read_json(\'{jsonl}\')" {as_csv}', False),
            ("jq", "jq, reading the pointer alone", f"jq -r .meta.url {jsonl}", False),
        ]),
    ]
    for path in filter(Path.exists, [STREAM, csv, jsonl]):
        print(f"{path}: {path.stat().st_size / 1e6:.0f} MB")
    print()
    os.environ.update(DUCKDB=DUCKDB, POLARS=POLARS)
    print("| | wall s | CPU s | peak MB | wall of the first row |")
    print("|---|--:|--:|--:|--:|")
    for sink, group in groups:
        rows = [row for row in group if not row[0] or runs(row[0]) and there(row[0])]
        if ONLY and all(not needs for needs, *_ in rows):
            continue
        printed = {lines(command) for *_, command, is_same in rows if is_same}
        if len(printed) > 1:
            raise SystemExit(f"these do not print the same lines: {rows}")
        seen: dict[str, list[tuple[float, float, float]]] = {name: [] for _, name, *_ in rows}
        for _ in range(ROUNDS):
            for _, name, command, _ in rows:
                seen[name].append(run(command + sink))
        first = statistics.median(wall for wall, _, _ in seen[rows[0][1]])
        for name, figures in seen.items():
            wall, cpu, peak = (statistics.median(column) for column in zip(*figures))
            print(f"| {name} | {wall:.3f} | {cpu:.3f} | {peak:.0f} | {wall / first:.2f} |", flush=True)


main()
