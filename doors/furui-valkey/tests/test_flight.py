"""What `furui seen --store` sends while answers are on their way: a server of the test's own holds them back."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

PROGRAM = os.environ.get("FURUI_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: FURUI_PROGRAM does not name the program")

#: The number of the keys over which the set is spread, so of the commands for a block of lines.
SHARDS = 4


class Fake:
    """A server for one client at a time. The test answers the commands of each connection that name members."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(30)
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}/set"

    def connect(self) -> Generator[tuple[list[bytes], Callable[[bytes], None]]]:
        """Accepts a connection: the commands that name members, each with what sends an answer."""
        connection, _ = self.listener.accept()
        connection.settimeout(30)
        with connection, connection.makefile("rb") as lines:
            while first := lines.readline():
                command = []
                for _ in range(int(first[1:])):
                    command.append(lines.read(int(lines.readline()[1:]) + 2)[:-2])
                known = {b"CLUSTER": b"-ERR This instance has cluster support disabled\r\n", b"PING": b"+PONG\r\n",
                         b"GET": b"$20\r\n4 0x0000000000000001\r\n", b"EXISTS": b":0\r\n", b"SEEN.CARD": b":0\r\n",
                         b"SET": b"$-1\r\n", b"SEEN.RESERVE": b"-ERR the key exists already\r\n"}.get(command[0])
                if known:
                    connection.sendall(known)
                else:
                    yield command, connection.sendall


def bits(command: list[bytes], bit: int) -> bytes:
    return b"*%d\r\n" % len(command[2:]) + b":%d\r\n" % bit * len(command[2:])


def begin(commands: Iterator[tuple[list[bytes], Callable[[bytes], None]]]) -> None:
    """Answers the first block, when the client has had time to read others, which it then sends together."""
    for count, (command, answer) in enumerate(commands, 1):
        if count == 1:
            time.sleep(0.5)
        answer(bits(command, 1))
        if count == SHARDS:
            break


def run(serve: Callable[[Fake], None], lines: Path) -> "subprocess.CompletedProcess[bytes]":
    """Runs the program with a server, whose failure is that of the test."""
    fake, failures = Fake(), []

    def watch() -> None:
        try:
            serve(fake)
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=watch)
    thread.start()
    done = subprocess.run([str(PROGRAM), "seen", "--store", fake.url, lines], capture_output=True, timeout=120)
    thread.join()
    fake.listener.close()
    assert not failures, (failures, done.stderr)
    return done


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Some twenty blocks of lines, of which none repeats another."""
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"https://example.com/%07d/%s\n" % (i, b"x" * 70) for i in range(100_000)))
    return path


def test_blocks_are_sent_before_earlier_ones_are_answered(lines: Path) -> None:
    def serve(fake: Fake) -> None:
        held: list[bytes] = []
        first = True
        commands = fake.connect()
        begin(commands)
        # Three blocks come before the first of them is answered.
        for command, answer in commands:
            held.append(bits(command, 1))
            if not first or len(held) == 3 * SHARDS:
                first = False
                answer(b"".join(held))
                held.clear()

    done = run(serve, lines)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout == lines.read_bytes()


def test_a_connection_that_is_lost_with_several_blocks(lines: Path) -> None:
    """All of them count as new, each line once, in the order of the input."""
    text = lines.read_bytes()
    all_lines = text.splitlines(keepends=True)
    # A line of the second block comes again and again after it.
    again = all_lines[8000]
    lines.write_bytes(b"".join(line + again * (i > 8000 and i % 1000 == 0) for i, line in enumerate(all_lines)))

    def serve(fake: Fake) -> None:
        commands = fake.connect()
        begin(commands)
        recorded: set[bytes] = set()
        for count, (command, _) in enumerate(commands, 1):
            recorded.update(command[2:])
            if count == 3 * SHARDS:
                break
        commands.close()
        for command, answer in fake.connect():
            # What the client repeats was recorded by what it had sent before.
            new = [b":%d\r\n" % (member not in recorded) for member in command[2:]]
            recorded.update(command[2:])
            answer(b"*%d\r\n" % len(new) + b"".join(new))

    done = run(serve, lines)
    assert done.returncode == 0 and done.stdout == text
    assert b"lines on the way then count as new" in done.stderr


def test_what_cannot_be_recorded_leaves_nothing_of_the_blocks_in_flight(lines: Path) -> None:
    recorded: set[bytes] = set()
    printable: set[bytes] = set()

    def serve(fake: Fake) -> None:
        held = []
        commands = fake.connect()
        for count, (command, answer) in enumerate(commands, 1):
            if command[0] == b"SEEN.FORGET":
                assert recorded.issuperset(command[2:])
                recorded.difference_update(command[2:])
                answer(bits(command, 1))
                continue
            assert command[0] == b"SEEN.ADD"
            # One of the commands of the second block is refused.
            is_refused = count == SHARDS + 2
            held.append(b"-OOM command not allowed\r\n" if is_refused else bits(command, 1))
            if not is_refused:
                recorded.update(command[2:])
            if count <= SHARDS:
                printable.update(command[2:])
            if count == 1:
                time.sleep(0.5)
            if count <= SHARDS or count >= 4 * SHARDS:
                answer(b"".join(held))
                held.clear()

    done = run(serve, lines)
    printed = done.stdout.split(b"\n")[:-1]
    assert done.returncode == 2 and b"neither printed nor recorded" in done.stderr
    assert set(printed) == printable == recorded and lines.read_bytes().startswith(done.stdout)


def test_a_server_that_goes_with_blocks_in_flight(lines: Path) -> None:
    def serve(fake: Fake) -> None:
        commands = fake.connect()
        begin(commands)
        for count, _ in enumerate(commands, 1):
            if count == 3 * SHARDS:
                break
        fake.listener.close()
        commands.close()

    done = run(serve, lines)
    printed = done.stdout.count(b"\n")
    assert done.returncode == 2 and printed and lines.read_bytes().startswith(done.stdout)
    count = int(done.stderr.split(b"line %d on, " % (printed + 1))[1].split(b" ")[0].replace(b",", b""))
    assert b"the server may have recorded some of them" in done.stderr and count > 2 * (512 << 10) / 100
