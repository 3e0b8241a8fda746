"""What the tests share."""

import os
import shutil
import subprocess
from pathlib import Path

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
