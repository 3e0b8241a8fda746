"""What the tests share."""

import logging
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The path of a store that does not exist yet."""
    return tmp_path / "store"


@pytest.fixture(scope="session")
def command() -> Path:
    """The program `furui`, which `cargo xtask test python` builds and names in FURUI."""
    named = os.environ.get("FURUI") or shutil.which("furui")
    if not named:
        pytest.skip("SKIPPED: there is no program furui: build it, and name it in the variable FURUI")
    return Path(named)


def run(command: Path, *arguments: str | Path, text: str = "", status: int = 0) -> str:
    """Runs the program with a text as its input, and returns what it prints."""
    done = subprocess.run([command, *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


@dataclass
class Service:
    """A bucket of a server that speaks like S3, on loopback."""

    endpoint: str
    options: dict[str, Any]

    def new(self, request: pytest.FixtureRequest) -> str:
        """The URL of a set that does not exist yet."""
        name = "".join(each if each.isalnum() else "-" for each in request.node.name)
        return f"s3://bucket/{request.module.__name__}/{name}"


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A server of moto with an empty bucket."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/bucket", method="PUT")).close()
    options = {
        "endpoint": endpoint,
        "region": "us-east-1",
        "access_key_id": "a",
        "secret_access_key": "b",
        "virtual_hosted_style_request": False,
        "client_options": {"allow_http": True},
    }
    yield Service(endpoint, options)
    server.stop()


@pytest.fixture
def url(service: Service, request: pytest.FixtureRequest) -> str:
    """The URL of a new set with four shards."""
    import furui.cloud

    url = service.new(request)
    furui.cloud.create(url, shards=4, **service.options)
    return url
