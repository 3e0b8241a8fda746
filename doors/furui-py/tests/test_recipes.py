"""Every block of Python in docs/python.md and in this package's README runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in [ROOT / "docs" / "python.md", ROOT / "doors" / "furui-py" / "README.md"]:
        title = page.stem
        for part in re.split(r"^(?=## )", page.read_text(), flags=re.MULTILINE):
            if part.startswith("## "):
                title = part.split("\n", 1)[0].removeprefix("## ")
            found += [(title, block) for block in re.findall(r"^```python\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)]
    return found


@pytest.mark.parametrize("block", [block for _, block in blocks()], ids=[title for title, _ in blocks()])
def test_recipe(block: str, tmp_path: Path) -> None:
    script = tmp_path / "recipe.py"
    script.write_text(block)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


def test_there_are_ten_recipes() -> None:
    assert sum(title[0].isdecimal() for title, _ in blocks()) >= 10
