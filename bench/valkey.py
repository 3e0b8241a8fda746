#!/usr/bin/env python3
"""The module for Valkey and Redis beside the server's own sets: rate, memory, pauses, size and time of RDB files.

Usage: python3 bench/valkey.py MODULE DIR [rates | memory | pauses]...

It needs redis-server, redis-benchmark and redis-py. Rates are commands, or items, a second of the server's CPU time; the
median of five runs in which both sides take turns.
"""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import redis

MODULE, DIR = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
ROUNDS = int(os.environ.get("ROUNDS", 5))
SHARDS = 1024
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self) -> None:
        shutil.rmtree(DIR, ignore_errors=True)
        DIR.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(DIR), "--save", "",
             "--loadmodule", str(MODULE), "--slowlog-log-slower-than", "500", "--slowlog-max-len", "100000"],
            stdout=subprocess.DEVNULL)
        self.client: Any = redis.Redis(port=self.port, socket_timeout=600)
        while True:
            try:
                if self.client.ping():
                    return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(0.01)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def resident(self) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024


def rate(server: Server, pipeline: int, count: int, items: int, command: str) -> tuple[float, float]:
    """Items a second of the server's CPU time, and of wall time."""
    server.client.flushall()
    arguments = ["redis-benchmark", "-p", str(server.port), "-n", str(count), "-r", "1000000000", "-P", str(pipeline), "-q",
                 command, "bench", *["url:__rand_int__"] * items]
    cpu, wall = server.cpu(), time.monotonic()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    return count * items / (server.cpu() - cpu), count * items / (time.monotonic() - wall)


def rates(server: Server) -> None:
    print("| items a command, -P | SADD, items a second of CPU | SEEN.ADD | ratio | of wall time | bar |")
    print("|---|--:|--:|--:|--:|--:|")
    for pipeline, items, count, bar in [(1, 1, 300_000, 0.95), (32, 1, 2_000_000, 0.9), (1, 16, 200_000, 3), (32, 16, 300_000, 3)]:
        runs: dict[str, list[tuple[float, float]]] = {"SADD": [], "SEEN.ADD": []}
        for _ in range(ROUNDS):
            for command, found in runs.items():
                found.append(rate(server, pipeline, count, items, command))
        cpu = {command: statistics.median(run[0] for run in found) for command, found in runs.items()}
        wall = {command: statistics.median(run[1] for run in found) for command, found in runs.items()}
        print(f"| {items}, {pipeline} | {cpu['SADD']:,.0f} | {cpu['SEEN.ADD']:,.0f} | {cpu['SEEN.ADD'] / cpu['SADD']:.2f} "
              f"| {wall['SEEN.ADD'] / wall['SADD']:.2f} | {bar} |", flush=True)


def fill(server: Server, command: str, count: int, shards: int, batch: int) -> None:
    """Adds URLs, batch by batch, each to the next key."""
    pipeline = server.client.pipeline(transaction=False)
    for number, first in enumerate(range(0, count, batch)):
        urls = [f"https://www.example.org/wiki/page-{url}" for url in range(first, first + batch)]
        pipeline.execute_command(command, f"urls:{number % shards}", *urls)
        if number % 100 == 99:
            pipeline.execute()
    pipeline.execute()


def longest(server: Server) -> str:
    """The longest time that a command took, in milliseconds."""
    entries = server.client.slowlog_get(100_000)
    slowest = max(entries, key=lambda entry: entry["duration"], default=None)
    if slowest is None:
        return "0.5 ms or less"
    return f"{slowest['duration'] / 1000:.1f} ms ({slowest['command'].split()[0].decode()}, of {len(entries)} above .5 ms)"


def memory(server: Server, command: str, count: int) -> None:
    server.client.flushall()
    before = server.resident()
    fill(server, command, count, SHARDS, 100)
    told = sum(server.client.memory_usage(f"urls:{key}", samples=0) for key in range(SHARDS))
    print(f"{command}, {count:,} URLs in {SHARDS} keys: {told / count:.1f} bytes a URL by MEMORY USAGE, "
          f"{(server.resident() - before) / count:.1f} by RSS", flush=True)


def pauses(server: Server, count: int, shards: int) -> None:
    server.client.flushall()
    server.client.slowlog_reset()
    fill(server, "SEEN.ADD", count, shards, 100)
    print(f"{count:,} members in {shards} keys: the longest command took {longest(server)}", flush=True)


def rdb(server: Server, count: int) -> None:
    """Saves and loads what is there."""
    began = time.monotonic()
    server.client.save()
    saved = time.monotonic() - began
    size = (DIR / "dump.rdb").stat().st_size
    told = server.client.info("furui")["furui_memory"]
    server.stop()
    began = time.monotonic()
    server.start()
    loaded = time.monotonic() - began
    print(f"RDB of {count:,} members: {size / count:.2f} bytes a member ({size / told:.2f} of the memory), saved in {saved:.1f} s, "
          f"loaded in {loaded:.1f} s")


server = Server()
try:
    which = sys.argv[3:] or ["rates", "memory", "pauses"]
    if "rates" in which:
        rates(server)
    if "memory" in which:
        memory(server, "SADD", 5_000_000)
        server.client.flushall()
        server.stop()
        server.start()
        memory(server, "SEEN.ADD", 5_000_000)
    if "pauses" in which:
        pauses(server, 5_000_000, 1)
        pauses(server, 50_000_000, SHARDS)
        rdb(server, 50_000_000)
finally:
    server.stop()
