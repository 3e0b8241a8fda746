"""Every block of Python and shell in docs/python.md, docs/runs.md and this package's README runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def blocks(language: str) -> list[tuple[str, str]]:
    """The sections and texts of the blocks in a language."""
    found = []
    for page in [ROOT / "docs" / "python.md", ROOT / "docs" / "runs.md", ROOT / "doors" / "furui-py" / "README.md"]:
        title = page.stem
        for part in re.split(r"^(?=## )", page.read_text(), flags=re.MULTILINE):
            if part.startswith("## "):
                title = part.split("\n", 1)[0].removeprefix("## ")
            texts = re.findall(rf"^```{language}\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
            found += [(title, text) for text in texts]
    return found


def parameters(language: str) -> pytest.MarkDecorator:
    found = blocks(language)
    return pytest.mark.parametrize("block", [block for _, block in found], ids=[title for title, _ in found])


@parameters("python")
def test_recipe(block: str, tmp_path: Path) -> None:
    script = tmp_path / "recipe.py"
    script.write_text(block)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


@parameters("sh")
def test_shell(block: str, tmp_path: Path, command: Path) -> None:
    # The block says `furui`, wherever the program is.
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    script = ["env", f"PATH={path}", "sh", "-euc", block]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_there_are_eleven_recipes() -> None:
    assert sum(title[0].isdecimal() for title, _ in blocks("python")) >= 11
