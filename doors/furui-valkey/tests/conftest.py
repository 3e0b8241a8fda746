"""What the tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import server as server_module
from server import PROGRAMS, Server


@pytest.fixture(params=list(PROGRAMS), autouse=True, scope="module")
def program(request: pytest.FixtureRequest) -> str:
    """Runs each test in Redis and in Valkey."""
    if PROGRAMS[request.param] is None:
        pytest.skip(f"SKIPPED: there is no {request.param}-server")
    server_module.program = request.param
    return str(request.param)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Makes servers that are stopped at the end of the test."""
    made: list[Server] = []

    def make(*options: str, **settings: Any) -> Server:
        made.append(Server(tmp_path / f"server-{len(made)}", *options, **settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def server(servers: Callable[..., Server]) -> Server:
    return servers()
