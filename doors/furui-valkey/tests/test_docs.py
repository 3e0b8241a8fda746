"""What docs/valkey.md shows is what a server answers, and each command is described there."""

import re
import subprocess
from pathlib import Path

from server import Server

PAGE = Path(__file__).parents[3] / "docs" / "valkey.md"


def test_transcripts(server: Server) -> None:
    shown: list[tuple[str, list[str]]] = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("    > "):
            shown.append((line[6:], []))
        elif line.startswith("    ") and shown and not line.startswith("    $"):
            shown[-1][1].append(line[4:])
        elif line:
            shown.append(("", []))
    shown = [(command, answer) for command, answer in shown if command]
    assert len(shown) >= 9
    for command, answer in shown:
        program = ["redis-cli", "-p", str(server.port), "--no-raw"]
        done = subprocess.run(program, input=command, capture_output=True, text=True, check=True)
        assert done.stdout.rstrip("\n").split("\n") == answer, command


def test_every_command_is_described(server: Server) -> None:
    families = (b"seen.", b"sieve.", b"dict.", b"furui.")
    names = {name.decode().upper() for name in server("COMMAND LIST") if name.startswith(families)}
    described = set(re.findall(r"`((?:SEEN|SIEVE|DICT|FURUI)\.[A-Z]+)", PAGE.read_text()))
    assert described == names
