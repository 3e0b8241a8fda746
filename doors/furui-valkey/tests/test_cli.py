"""`furui seen --store redis://...`: the program decides as with a set of its own, and shares its set with others."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from server import PROGRAMS, Server, free_port

PROGRAM = os.environ.get("FURUI_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: FURUI_PROGRAM does not name the program")


#: True if the program can encrypt connections.
HAS_TLS = PROGRAM is not None and b"no TLS" not in subprocess.run(
    [PROGRAM, "has", "rediss://127.0.0.1:1/set"], capture_output=True, stdin=subprocess.DEVNULL).stderr


def furui(*arguments: object, lines: bytes = b"", status: int = 0) -> "subprocess.CompletedProcess[bytes]":
    """Runs the program, which must end with this status."""
    done = subprocess.run([str(PROGRAM), *map(str, arguments)], input=lines, capture_output=True, timeout=120)
    assert done.returncode == status, done.stderr.decode()
    return done


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    """Starts the program with pipes."""
    pipe = subprocess.PIPE
    return subprocess.Popen([str(PROGRAM), *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe)


def url(server: Server, name: str) -> str:
    return f"redis://127.0.0.1:{server.port}/{name}"


def stream(seed: int, count: int = 30_000) -> list[bytes]:
    """Lines of which a third are repeats; some are empty, long or not UTF-8."""
    chance = random.Random(seed)
    known = [b"", b"\xff\x00\xfe", b"x" * 100_000, "日本".encode()]
    lines = []
    for _ in range(count):
        if chance.random() < 0.7:
            known.append(f"https://example.com/{chance.randrange(10**9)}/page".encode())
            lines.append(known[-1])
        else:
            lines.append(chance.choice(known))
    return lines


def text(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def once(lines: list[bytes]) -> list[bytes]:
    return list(dict.fromkeys(lines))


def members(server: Server, name: str) -> int:
    return sum(server("SEEN.CARD", f"{name}:{{{shard:03x}}}") for shard in range(1024))


def test_the_output_is_that_of_a_set_of_its_own(server: Server, tmp_path: Path) -> None:
    lines = stream(1)
    (tmp_path / "lines").write_bytes(text(lines))
    store = ["--store", url(server, "set"), tmp_path / "lines"]
    assert furui("seen", *store).stdout == furui("seen", tmp_path / "lines").stdout == text(once(lines))
    again = furui("seen", *store, "--stats=json")
    counts = {"lines": len(lines), "bytes": len(text(lines)), "new": 0, "repeats": len(lines), "missing": 0}
    assert (again.stdout, json.loads(again.stderr)) == (b"", counts)
    assert furui("seen", *store, "--invert").stdout == text(lines)
    assert members(server, "set") == len(once(lines))
    assert re.fullmatch(rb"1024 0x[0-9a-f]{16}", server("GET", "set:shards"))
    assert server("DBSIZE") == 1025


@pytest.mark.parametrize("options", [["--csv", "--key", "url"], ["--csv", "--key", "url,n", "--ignore-case"],
                                     ["--field", "2", "--delimiter", ",", "--missing", "drop"],
                                     ["--mark=line"], ["--mark", "--url"], ["--tsv", "--trim"]], ids=" ".join)
def test_keys_and_outputs_are_those_of_a_set_of_its_own(server: Server, tmp_path: Path, options: list[str]) -> None:
    chance = random.Random(2)
    rows = [b"url,n,title\n"]
    for _ in range(5000):
        rows.append(b'HTTP://a.b/%d#%d,%d,"a\nb"\n' % (chance.randrange(900), chance.randrange(9), chance.randrange(2)))
    rows.append(b"short\n")
    (tmp_path / "rows.csv").write_bytes(b"".join(rows))
    results = []
    for store in [[], ["--store", url(server, "set")]]:
        repeats = tmp_path / f"repeats-{len(store)}"
        done = furui("seen", *options, *store, tmp_path / "rows.csv", "--repeats", repeats, "--count")
        results.append((done.stdout, done.stderr, repeats.read_bytes()))
    assert results[0] == results[1]
    assert results[0][0] and results[0][2]


def test_members_are_the_bytes_that_other_clients_have(server: Server) -> None:
    server("SET", "set:shards", "1024 0x0000000000000000")
    furui("seen", "--store", url(server, "set"), "--csv", "--key", "url", lines=b"url,n\na,1\nb,2\n\"https://example.com/\",3\n")
    # The shards are 1024 ranges of the XXH3 of the key with the seed of the set, with exchanged halves.
    for member, shard in [("a", 122), ("b", 275), ("https://example.com/", 257)]:
        assert server("SEEN.HAS", f"set:{{{shard:03x}}}", member) == [1]


def test_python_shares_the_set(server: Server) -> None:
    valkey = pytest.importorskip("furui.valkey", reason="SKIPPED: the wheel of furui is not installed")
    chance = random.Random(3)
    keys = [f"key {chance.randrange(10_000)}" for _ in range(5000)]
    seen = valkey.Seen(server.client, "set")
    seen.add_many(keys[:2500])
    new = [key for key in dict.fromkeys(keys[2500:]) if key not in set(keys[:2500])]
    assert furui("seen", "--store", url(server, "set"), lines="\n".join(keys[2500:]).encode()).stdout.decode().split("\n") == [*new, ""]
    assert all(seen.has_many(keys))


def test_a_set_of_another_number_of_shards(server: Server) -> None:
    server("SET", "set:shards", "16 0x00000000000000ff")
    furui("seen", "--store", url(server, "set"), lines=text(stream(4)))
    assert sum(server("SEEN.CARD", f"set:{{{shard:x}}}") for shard in range(16)) == len(once(stream(4)))
    assert b"0x00000000000000ff" in server("FURUI.INFO", "set:{0}")
    for text_of_it in ["many", "16", "16 7", "1024 0x1 0x2 0x3"]:
        server("SET", "set:shards", text_of_it)
        assert b"set:shards is not that of a set" in furui("seen", "--store", url(server, "set"), status=2).stderr


@pytest.mark.parametrize("make", [("SEEN.ADD", "k", "5"), ("SET", "k", "5"), ("HSET", "k", "5", "6")], ids=" ".join)
def test_a_name_that_a_single_key_has(server: Server, make: tuple[str, ...]) -> None:
    server(*make)
    for command in [["seen", "--store"], ["seen", "-n", "--store"], ["has"], ["union", "-o", "/dev/null/x"], ["info"]]:
        assert b"k is a single key of the server" in furui(*command, url(server, "k"), lines=b"5\n", status=2).stderr
    assert server("DBSIZE") == 1


URLS = ["redis+cluster://h:7000/u", "redis-sentinel://h/u", "http://h/u", "redis+cluster://me:secret@h/u", "://u", "VALKEYX://h/u"]


@pytest.mark.parametrize("command", [
    "seen --store URL", "seen -q --store URL", "seen -n --store URL", "seen --store s --like URL", "seen --store URL --pending f",
    "seen --store URL --remove f", "has URL", "has --set-lines URL", "commit URL f", "union URL -o o", "union s URL -o o",
    "union s -o URL", "subtract s URL -o o", "intersect URL s -o o", "export --u64 URL", "import URL f", "compact URL", "info URL",
    "info s URL", "verify URL", "snapshot URL o", "snapshot s URL", "filter build f -o URL", "dict build --store URL",
    "dict number --store URL", "dict count --store URL", "dict get --store URL", "dict delete --store URL"])
def test_no_url_is_taken_for_a_directory(tmp_path: Path, command: str) -> None:
    """Ten machines with a directory each would do everything ten times."""
    (tmp_path / "f").write_bytes(b"a\n")
    subprocess.run([str(PROGRAM), "seen", "-q", "--store", "s", "f"], cwd=tmp_path, check=True)
    before = sorted(tmp_path.iterdir())
    for url in URLS + ([] if command.startswith(("seen", "has")) else ["redis:///nowhere", "VALKEY://me:secret@127.0.0.1:1/u"]):
        arguments = [url if word == "URL" else word for word in command.split()]
        done = subprocess.run([str(PROGRAM), *arguments], cwd=tmp_path, input=b"a\n", capture_output=True, timeout=60)
        assert done.returncode == 2 and (not done.stdout or "info s" in command), (url, done)
        assert b"secret" not in done.stderr and sorted(tmp_path.iterdir()) == before, (url, done)


def test_schemes_have_any_case(server: Server) -> None:
    store = url(server, "set").replace("redis", "REDIS")
    furui("seen", "--store", store, lines=b"a\n")
    assert furui("has", store.replace("REDIS", "Valkey"), lines=b"a\nb\n").stdout == b"a\n"


def test_two_processes_print_each_line_once(server: Server, tmp_path: Path) -> None:
    lines = stream(5, 400_000)
    processes, outputs = [], []
    for number in range(2):
        order = random.Random(number).sample(lines, len(lines))
        (tmp_path / f"in-{number}").write_bytes(text(order))
        outputs.append(tmp_path / f"out-{number}")
        with open(outputs[-1], "wb") as out:
            command = [str(PROGRAM), "seen", "--store", url(server, "set"), str(tmp_path / f"in-{number}")]
            processes.append(subprocess.Popen(command, stdout=out))
    assert [process.wait(120) for process in processes] == [0, 0]
    printed = [output.read_bytes().split(b"\n")[:-1] for output in outputs]
    assert sorted(printed[0] + printed[1]) == sorted(once(lines))
    assert min(map(len, printed)) > 100


def ask(process: "subprocess.Popen[bytes]", line: bytes) -> bytes:
    """The mark of a line, which must come at once."""
    assert process.stdin and process.stdout
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_a_coprocess_is_answered_at_once(server: Server) -> None:
    process = start("seen", "--mark", "--store", url(server, "set"))
    assert ask(process, b"first") == b"1\n"
    times = []
    for number in range(200):
        began = time.monotonic()
        assert ask(process, b"%d" % (number // 2)) == (b"0\n" if number % 2 else b"1\n")
        times.append(time.monotonic() - began)
    assert sorted(times)[len(times) // 2] < 0.05, times
    # The server, or a network, closes connections that are idle for long.
    time.sleep(1.1)
    server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert (ask(process, b"7"), ask(process, b"new"), ask(process, b"new")) == (b"0\n", b"1\n", b"0\n")
    # Of a line on the way when the connection breaks it is unknown whether it was recorded: it counts as new.
    server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert (ask(process, b"7"), ask(process, b"7")) == (b"1\n", b"0\n")
    printed, said = process.communicate(timeout=60)
    assert (printed, process.returncode) == (b"", 0)
    assert b"1 line on the way" in said


def test_a_server_that_is_killed(server: Server) -> None:
    process = start("seen", "--mark", "--store", url(server, "set"))
    assert ask(process, b"a") == b"1\n"
    server.kill()
    assert ask(process, b"b") == b""
    printed, said = process.communicate(timeout=60)
    assert (printed, process.returncode) == (b"", 2)
    assert b"standard input: line 2 on, 1 line" in said and b"no server listens there" in said


def test_a_server_that_is_killed_while_it_decides(server: Server, tmp_path: Path) -> None:
    lines = stream(6, 300_000)
    (tmp_path / "lines").write_bytes(text(lines))
    process = start("seen", "--store", url(server, "set"), tmp_path / "lines")
    assert process.stdout and process.stderr
    printed = process.stdout.read(100_000)
    server.kill()
    printed += process.stdout.read()
    said = process.stderr.read()
    assert process.wait(60) == 2 and b"furui: redis://127.0.0.1" in said
    assert text(once(lines)).startswith(printed) and printed.endswith(b"\n")


def test_a_reader_that_wants_no_more(server: Server, tmp_path: Path) -> None:
    """What the reader of the pipe did not get is new to the next run."""
    lines = once(stream(7, 200_000))
    (tmp_path / "lines").write_bytes(text(lines))
    process = start("seen", "--store", url(server, "set"), tmp_path / "lines")
    assert process.stdout and process.stderr
    # Python would read more from the pipe than it is asked for, and drop it.
    printed = b""
    while len(printed) < 1 << 20:
        printed += os.read(process.stdout.fileno(), (1 << 20) - len(printed))
    process.stdout.close()
    assert process.wait(60) == 0, process.stderr.read()
    rest = furui("seen", "--store", url(server, "set"), tmp_path / "lines").stdout
    assert set(printed.split(b"\n") + rest.split(b"\n")) >= set(lines)
    assert len(rest) < len(text(lines)), "what was read is recorded"


def test_signals_and_stops_lose_nothing(server: Server, tmp_path: Path) -> None:
    lines = stream(10, 600_000)
    (tmp_path / "lines").write_bytes(text(lines))
    with open(tmp_path / "out", "wb") as out:
        command = [str(PROGRAM), "seen", "--store", url(server, "set"), str(tmp_path / "lines")]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
    assert process.stderr
    until(lambda: (tmp_path / "out").stat().st_size > 0)
    for wanted in [signal.SIGUSR1, signal.SIGSTOP, signal.SIGCONT] * 20:
        process.send_signal(wanted)
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    assert process.wait(60) == 128 + signal.SIGTERM and b"on the way" not in said, said
    printed = (tmp_path / "out").read_bytes()
    assert furui("seen", "--store", url(server, "set"), tmp_path / "lines").stdout == text(once(lines))[len(printed) :]
    # Nothing is printed, and everything is recorded.
    furui("seen", "--quiet", "--store", url(server, "quiet"), lines=b"a\nb\n")
    assert furui("seen", "--store", url(server, "quiet"), lines=b"a\nb\nc\n").stdout == b"c\n"


def test_a_dry_run_and_a_look_up_record_nothing(server: Server) -> None:
    store = url(server, "set")
    assert furui("seen", "-n", "--store", store, lines=b"a\nb\na\n").stdout == b"a\nb\n"
    assert server("DBSIZE") == 0
    furui("seen", "--store", store, lines=b"b\nc\n")
    keys = server("DBSIZE")
    assert furui("seen", "-n", "--store", store, lines=b"a\nb\na\n").stdout == b"a\n"
    assert furui("has", store, lines=b"a\nb\nc\n").stdout == b"b\nc\n"
    assert furui("has", "-v", store, lines=b"a\nb\nc\n").stdout == b"a\n"
    assert furui("has", "--count", "redis://127.0.0.1:%d/none" % server.port, lines=b"a\n", status=1).stdout == b"0\n"
    assert server("DBSIZE") == keys


def test_a_window(server: Server) -> None:
    furui("seen", "--store", url(server, "set"), "--window", "1h", lines=b"a\n")
    assert server("DBSIZE") == 1025
    assert furui("seen", "--store", url(server, "set"), "--window", "1h", lines=b"a\nb\n").stdout == b"b\n"
    assert re.fullmatch(rb"1024 0x[0-9a-f]{16} 3600000ms", server("GET", "set:shards"))
    assert b"remembers the last 1h" in furui("seen", "--store", url(server, "set"), "--window", "2h", status=2).stderr
    assert b"16,384 lines at least" in furui("seen", "--store", url(server, "new"), "--window", "16383", status=2).stderr
    # Another program has said the window for all.
    server("SET", "python:shards", "16 0x0000000000000001 60000ms")
    furui("seen", "--store", url(server, "python"), lines=b"a\n")
    assert sum(server("EXISTS", f"python:{{{shard:x}}}") for shard in range(16)) == 16
    # 16 members of each of 1024 keys.
    furui("seen", "--store", url(server, "last"), "--window", "16384", lines=b"".join(b"%d\n" % i for i in range(60_000)))
    assert 16_000 < members(server, "last") < 25_000


def test_as_many_new_lines_as_are_wanted(server: Server, tmp_path: Path) -> None:
    lines = stream(11)
    (tmp_path / "lines").write_bytes(text(lines))
    store = ["--store", url(server, "set"), tmp_path / "lines"]
    for first, last in [(0, 1), (1, 3), (3, 5000)]:
        done = furui("seen", *store, "--limit", last - first, "--status")
        assert done.stdout == text(once(lines)[first:last])
        assert members(server, "set") == last, "no other line is recorded"
    assert furui("seen", *store, "--invert", "--limit", 2).stdout == text(lines[:2])
    furui("seen", *store, "--quiet")
    furui("seen", *store, "--quiet", "--status", status=1)


def test_a_limit_leaves_nothing_of_the_block(server: Server, tmp_path: Path) -> None:
    server("CONFIG", "SET", "furui.max-memory", 4 << 20)
    lines = [b"%d" % i for i in range(400_000)]
    (tmp_path / "lines").write_bytes(text(lines))
    done = furui("seen", "--store", url(server, "set"), tmp_path / "lines", status=2)
    printed = done.stdout.split(b"\n")[:-1]
    assert printed == lines[: len(printed)]
    assert b"neither printed nor recorded" in done.stderr and b"furui.max-memory" in done.stderr
    assert members(server, "set") == len(printed)
    server("CONFIG", "SET", "furui.max-memory", 0)
    assert furui("seen", "--store", url(server, "set"), tmp_path / "lines").stdout == text(lines[len(printed) :])


def test_wrong_sets_are_refused_before_a_line_is_read(server: Server) -> None:
    def refused(where: object, *options: object) -> str:
        done = furui("seen", "--store", where, *options, lines=b"a\n", status=2)
        assert done.stdout == b""
        return done.stderr.decode()

    assert "no server listens there" in refused(f"redis://127.0.0.1:{free_port()}/set")
    assert "names no set" in refused(url(server, "0"))
    assert "TLS" in refused("rediss://127.0.0.1:1/set") or HAS_TLS
    assert "no service" in refused("redis+sentinel://127.0.0.1:1/set")
    assert "connection failed" in refused("unix:///dev/null/r.sock?name=set")
    assert "out of range" in refused(url(server, "99/set"))
    server("SET", "text:{000}", "a")
    assert "WRONGTYPE" in refused(url(server, "text"))
    for options in [["--memory", "64MiB"], ["--threads", 2], ["--cache", "none"], ["--sync", 1], ["--wait"], ["--no-mmap"],
                    ["--hash-seed", 1], ["--like", "x"], ["--paper"], ["--remove", "x"], ["--as-is"]]:
        assert str(options[0]) in refused(url(server, "set"), *options)
    assert server("DBSIZE") == 1
    server("CONFIG", "SET", "requirepass", "secret")
    assert "REDISCLI_AUTH" in refused(url(server, "set"))
    wrong = refused(f"redis://:mistake@127.0.0.1:{server.port}/set")
    assert "WRONGPASS" in wrong.upper() or "authentication" in wrong
    assert "mistake" not in wrong
    right = f"redis://:secret@127.0.0.1:{server.port}/set"
    assert furui("seen", "--store", right, lines=b"a\n").stdout == b"a\n"
    # Another database is another set.
    assert furui("seen", "--store", right.replace("/set", "/1/set"), lines=b"a\n").stdout == b"a\n"


def test_a_server_without_the_module(tmp_path: Path) -> None:
    program = os.environ.get("REDIS_SERVER") or shutil.which("redis-server") or "valkey-server"
    port = free_port()
    process = subprocess.Popen([program, "--port", str(port), "--dir", str(tmp_path), "--save", ""], stdout=subprocess.DEVNULL)
    try:
        client = redis.Redis(port=port)
        until(lambda: answers(client))
        said = furui("seen", "--store", f"redis://127.0.0.1:{port}/set", lines=b"a\n", status=2).stderr
        assert b"no module furui-valkey" in said and b"docs/valkey.md" in said
    finally:
        process.kill()
        process.wait()


def answers(client: Any) -> bool:
    try:
        return bool(client.ping())
    except redis.exceptions.ConnectionError:
        return False


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def masters(servers: Callable[..., Server]) -> Iterator[list[Server]]:
    """A cluster of three masters."""
    buses = [free_port() for _ in range(3)]
    nodes = [servers("--cluster-enabled", "yes", "--cluster-port", str(bus)) for bus in buses]
    bounds = [0, 5461, 10923, 16384]
    for node, first, after in zip(nodes, bounds, bounds[1:]):
        node("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
        for other, bus in zip(nodes, buses):
            node("CLUSTER", "MEET", "127.0.0.1", other.port, bus)
    until(lambda: all(is_whole(node) for node in nodes))
    yield nodes


def is_whole(node: Server) -> bool:
    info = node.client.cluster("INFO")
    return bool(info["cluster_state"] == "ok" and info["cluster_known_nodes"] == "3" and info["cluster_slots_ok"] == "16384")


def test_a_cluster(masters: list[Server], tmp_path: Path) -> None:
    lines = stream(8, 100_000)
    (tmp_path / "lines").write_bytes(text(lines))
    assert furui("seen", "--store", url(masters[0], "set"), tmp_path / "lines").stdout == text(once(lines))
    assert furui("seen", "--store", url(masters[1], "set"), tmp_path / "lines").stdout == b""
    assert furui("has", url(masters[2], "set"), tmp_path / "lines").stdout == text(lines)
    assert min(node("DBSIZE") for node in masters) > 200
    furui("seen", "--store", url(masters[0], "window"), "--window", "1h", lines=b"a\n")


def test_slots_move_while_lines_are_decided(masters: list[Server]) -> None:
    """Every line is printed once while a thousand slots move to another master."""
    lines = once(stream(9, 400_000))
    process = start("seen", "--store", url(masters[0], "set"), "--mark")
    assert process.stdin and process.stdout
    marks = 0
    ids = [node("CLUSTER", "MYID").decode() for node in masters]
    tool = os.environ.get("REDIS_CLI") or shutil.which("redis-cli") or "valkey-cli"
    command = [tool, "--cluster", "reshard", f"127.0.0.1:{masters[0].port}", "--cluster-from", ids[0], "--cluster-to", ids[2],
               "--cluster-slots", "1000", "--cluster-yes"]
    mover = None
    during = 0
    for first in range(0, len(lines), 500):
        part = lines[first : first + 500]
        process.stdin.write(text(part))
        process.stdin.flush()
        answers = process.stdout.read(2 * len(part))
        assert answers == b"1\n" * len(part)
        marks += len(part)
        if first == 10_000:
            mover = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        elif mover is not None:
            if mover.poll() is not None:
                break
            during += len(part)
    assert mover is not None
    said, _ = mover.communicate(timeout=120)
    assert mover.returncode == 0, said
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b""), said
    assert during > 0
    assert furui("seen", "--store", url(masters[1], "set"), lines=text(lines[:marks])).stdout == b""


def test_a_whole_set_leaves_the_server(server: Server, tmp_path: Path) -> None:
    lines, others = once(stream(12, 60_000)), [b"other %d" % i for i in range(1000)]
    store = url(server, "set")
    furui("seen", "-q", "--store", store, lines=text(lines))
    furui("union", store, "-o", tmp_path / "copy")
    furui("verify", tmp_path / "copy")
    assert furui("has", "--count", tmp_path / "copy", lines=text(lines + others)).stdout == b"%d\n" % len(lines)
    # Stores that are like the copy go with the set.
    furui("seen", "-q", "--store", tmp_path / "like", "--like", tmp_path / "copy", lines=text(lines[:10] + others))
    furui("union", tmp_path / "like", store, "-o", tmp_path / "all")
    assert furui("has", "-v", tmp_path / "all", lines=text(lines + others), status=1).stdout == b""
    furui("subtract", store, tmp_path / "like", "-o", tmp_path / "fewer")
    assert furui("has", "--count", tmp_path / "fewer", lines=text(lines + others)).stdout == b"%d\n" % (len(lines) - 10)
    furui("intersect", store, tmp_path / "like", "-o", tmp_path / "both")
    assert furui("export", "--u64", tmp_path / "copy").stdout == furui("export", "--u64", store).stdout
    facts = json.loads(furui("info", "--json", store).stdout)
    assert (facts["keys"], facts["shards"]) == (len(lines), 1024)
    assert facts["seed"] == json.loads(furui("info", "--json", tmp_path / "copy").stdout)["seed"]
    assert str(facts["seed"]).encode() in server("GET", "set:shards")
    furui("seen", "-q", "--store", tmp_path / "alien", lines=b"a\n")
    assert b"do not fit together" in furui("union", store, tmp_path / "alien", "-o", tmp_path / "no", status=2).stderr
    assert not (tmp_path / "no").exists()


def test_sets_that_cannot_leave_the_server(server: Server, tmp_path: Path) -> None:
    furui("seen", "-q", "--store", url(server, "set"), "--window", "1h", lines=b"a\n")
    refused = furui("union", url(server, "set"), "-o", tmp_path / "no", status=2).stderr
    assert b"the last 1h" in refused and b"window" in refused
    assert "window" in json.loads(furui("info", "--json", url(server, "set")).stdout)
    assert b"no set of this name" in furui("union", url(server, "none"), "-o", tmp_path / "no", status=2).stderr
    # A key that another program has made, with a seed of its own.
    server("SET", "mixed:shards", "4 0x0000000000000001")
    server("SEEN.ADD", "mixed:{2}", "a")
    assert b"was not made for this set" in furui("union", url(server, "mixed"), "-o", tmp_path / "no", status=2).stderr
    assert not (tmp_path / "no").exists()


def test_pieces_of_a_large_key(server: Server, tmp_path: Path) -> None:
    server("SET", "set:shards", "1 0x0000000000000005")
    lines = [b"%d" % i for i in range(3_200_000)]
    furui("seen", "-q", "--store", url(server, "set"), lines=text(lines))
    assert server("FURUI.DUMP", "set:{0}", 1)[1] > 1
    furui("union", url(server, "set"), "-o", tmp_path / "copy")
    assert furui("has", "--count", tmp_path / "copy", lines=text(lines)).stdout == b"%d\n" % len(lines)


def test_a_socket_of_this_machine(servers: Callable[..., Server], tmp_path: Path) -> None:
    server = servers("--unixsocket", str(tmp_path / "r.sock"))
    store = f"unix://{tmp_path}/r.sock?name=a/b"
    lines = stream(13)
    assert furui("seen", "--store", store, lines=text(lines)).stdout == text(once(lines))
    assert furui("has", f"redis://127.0.0.1:{server.port}/a%2Fb", lines=text(lines)).stdout == text(lines)
    furui("seen", "-q", "--store", store + "&db=3", lines=b"a\n")
    assert server.client.info("keyspace")["db3"]["keys"] == 1025
    server("CONFIG", "SET", "requirepass", "secret")
    assert b"NOAUTH" in furui("has", store, lines=b"a\n", status=2).stderr
    furui("has", store.replace("unix://", "redis+unix://:secret@"), lines=text(lines[:1]))
    server.kill()
    assert b"r.sock" in furui("has", store, lines=b"a\n", status=2).stderr


@pytest.fixture
def watched(servers: Callable[..., Server], tmp_path: Path, program: str) -> Iterator[tuple[Server, Server, str]]:
    """A master and its replica, which a Sentinel watches, and the URL of a set in them."""
    master = servers()
    replica = servers("--replicaof", "127.0.0.1", str(master.port))
    port = free_port()
    (tmp_path / "sentinel.conf").write_text(
        f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor crawl 127.0.0.1 {master.port} 1\n"
        "sentinel down-after-milliseconds crawl 500\nsentinel failover-timeout crawl 3000\n")
    process = subprocess.Popen([str(PROGRAMS[program]), str(tmp_path / "sentinel.conf"), "--sentinel"], stdout=subprocess.DEVNULL)
    try:
        client = redis.Redis(port=port)
        until(lambda: answers(client))
        until(lambda: len(client.execute_command("SENTINEL", "REPLICAS", "crawl")) == 1)
        until(lambda: replica.client.info("replication")["master_link_status"] == "up")
        yield master, replica, f"redis+sentinel://127.0.0.1:1,127.0.0.1:{port}/crawl/set"
    finally:
        process.terminate()
        process.wait()


def test_a_master_that_sentinels_replace(watched: tuple[Server, Server, str], tmp_path: Path) -> None:
    master, replica, store = watched
    process = start("seen", "--mark", "--store", store)
    assert (ask(process, b"a"), ask(process, b"a")) == (b"1\n", b"0\n")
    # WAIT would wait for what this connection has written.
    until(lambda: replica("DBSIZE") == master("DBSIZE") > 1024)
    master.kill()
    # A server of another test that took the port would be this master to the Sentinel, and empty. A port that is bound
    # and not listened on refuses connections, and nobody else gets it.
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", master.port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        is_replaced(process, replica, store)


def is_replaced(process: "subprocess.Popen[bytes]", replica: Server, store: str) -> None:
    """Checks that a program and a later one find the replica of a master that is gone."""
    assert ask(process, b"b") == b"1\n"
    # A Sentinel breaks the connections of a replica that becomes the master. What was on its way then is called new.
    for line in [b"a", b"b"]:
        until(lambda: ask(process, line) == b"0\n")
    process.communicate(timeout=60)
    assert process.returncode == 0 and replica.client.info("replication")["role"] == "master"
    assert furui("has", store, lines=b"a\nb\nc\n").stdout == b"a\nb\n"
    assert b"no service" in furui("has", store.replace("crawl", "none"), lines=b"a\n", status=2).stderr


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The certificate of an authority, and beside it the key and the certificate of a server, which it has signed."""

    def openssl(*arguments: object) -> None:
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=tmp_path)

    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    openssl(*new, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt")
    openssl(*new, "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.crt", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE")
    return tmp_path / "ca.crt"


@pytest.mark.skipif(not HAS_TLS or shutil.which("openssl") is None, reason="SKIPPED: no TLS in this program, or no openssl")
def test_tls(servers: Callable[..., Server], authority: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port, folder = free_port(), authority.parent
    probe = subprocess.run([str(PROGRAMS[program]), "--tls-port", "1", "--port", "0"], capture_output=True, timeout=30)
    if b"tls-cert-file" not in probe.stdout:
        pytest.skip("SKIPPED: this server has no TLS")
    server = servers("--tls-port", str(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", str(authority),
                     "--tls-cert-file", str(folder / "server.crt"), "--tls-key-file", str(folder / "server.key"))
    store, lines = f"rediss://127.0.0.1:{port}/set", stream(14)
    # An authority that nobody trusts.
    assert b"UnknownIssuer" in furui("has", store, lines=b"a\n", status=2).stderr
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    assert furui("seen", "--store", store, lines=text(lines)).stdout == text(once(lines))
    assert furui("has", store.replace("rediss", "VALKEYS"), lines=text(lines)).stdout == text(lines)
    assert furui("has", url(server, "set"), lines=text(lines)).stdout == text(lines)
    # A certificate that is not for this name, and a server without TLS.
    assert b"not valid for name" in furui("has", store.replace("127.0.0.1", "localhost"), lines=b"a\n", status=2).stderr
    assert b"TLS port" in furui("has", f"rediss://127.0.0.1:{server.port}/set", lines=b"a\n", status=2).stderr
    server("CONFIG", "SET", "requirepass", "secret")
    furui("has", store.replace("rediss://", "rediss://:secret@"), lines=text(lines[:1]))
