"""What Python writes the program `furui` reads, and the other way round."""

from pathlib import Path

import furui
import pytest
from conftest import run

LINES = [f"https://example.org/{i % 700}" for i in range(1000)] + ["以前", "a b"]
TEXT = "\n".join(LINES) + "\n"
KINDS = {
    "bloom": furui.Bloom,
    "blocked": furui.BlockedBloom,
    "counting": furui.CountingBloom,
    "quotient": furui.QuotientFilter,
    "ringed": furui.RingedBloom,
    "stable-light": furui.StableBloomLight,
    "window": furui.WindowBloom,
    "parquet": furui.SplitBlockBloom,
}


def test_sets(command: Path, store: Path, tmp_path: Path) -> None:
    with furui.Seen(store) as seen:
        assert sum(seen.add_many(LINES)) == 702
    assert run(command, "seen", "--store", store, text=TEXT + "new\n") == "new\n"
    assert run(command, "verify", store) is not None
    other = tmp_path / "other"
    printed = run(command, "seen", "--store", other, text=TEXT).split("\n")[:-1]
    assert printed == list(dict.fromkeys(LINES))
    with furui.Seen(other) as seen:
        assert seen.add_many(["https://example.org/3", "以前", "new"]) == [False, False, True]


def mix(number: int) -> int:
    """The bijection of docs/python.md."""
    number ^= 0xA54FF53A5F1D36F1
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def test_hashes_that_are_exported_and_imported(command: Path, store: Path, tmp_path: Path) -> None:
    """The command writes and reads the hashes of the set itself, which are the mixed ones with hashed=True."""
    numbers, exported = [*range(100), 2**64 - 1], tmp_path / "hashes"
    with furui.Seen(store, hash="xxh3:0") as seen:
        seen.add_many(numbers, hashed=True)
    run(command, "export", store, "--u64", "-o", exported)
    data = exported.read_bytes()
    found = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
    assert found == sorted(map(mix, numbers))
    run(command, "seen", "--quiet", "--store", tmp_path / "other", "--hash", "xxh3", "--hash-seed", "0", text="a\n")
    run(command, "import", tmp_path / "other", exported)
    with furui.Seen(tmp_path / "other") as seen:
        assert all(seen.has_many(numbers, hashed=True)) and "a" in seen and len(seen) == len(numbers) + 1


def test_a_set_of_columns_is_refused(command: Path, store: Path) -> None:
    run(command, "seen", "--csv", "--key", "url", "--store", store, text="url,n\na,1\n")
    with pytest.raises(furui.ConfigError, match="--csv --key url"):
        furui.Seen(store)
    with furui.Seen(store, form="--csv --key url") as seen:
        assert "a" in seen


@pytest.mark.parametrize("kind", KINDS)
def test_filters(command: Path, kind: str, tmp_path: Path) -> None:
    built, made = tmp_path / "built", tmp_path / "made"
    run(command, "filter", "build", "--kind", kind, "--capacity", "1000", "-o", built, text=TEXT)
    words = furui.Filter.load(built)
    assert type(words) is KINDS[kind]
    assert words.kind == kind or kind == "parquet"
    assert all(words.has_many(LINES))
    made_here = KINDS[kind].with_rate(2000, 0.01)  # type: ignore[attr-defined]
    made_here.update(LINES)
    made_here.save(made)
    assert run(command, "has", made, text="以前\n") == "以前\n"
    assert run(command, "has", "-v", made, text=TEXT, status=1) == ""


def test_a_scalable_filter(command: Path, tmp_path: Path) -> None:
    words = furui.ScalableBloom.with_rate(100, 0.01)
    words.update(LINES)
    words.save(tmp_path / "made")
    assert run(command, "has", tmp_path / "made", text="以前\n") == "以前\n"


def test_a_fuse_filter(command: Path, store: Path, tmp_path: Path) -> None:
    furui.Fuse.from_keys(LINES, 0.004).save(tmp_path / "made")
    assert run(command, "has", tmp_path / "made", text="以前\n") == "以前\n"
    assert run(command, "has", "-v", tmp_path / "made", text=TEXT, status=1) == ""
    with furui.Seen(store) as seen:
        seen.add_many(LINES)
    run(command, "filter", "build", "--kind", "fuse", "--store", store, "-o", tmp_path / "built")
    words = furui.Fuse.open(tmp_path / "built")
    assert words.capacity == len(set(LINES)) and all(words.has_many(LINES))


def test_dictionaries(command: Path, store: Path, tmp_path: Path) -> None:
    with furui.Dict(store) as words:
        assert words.number_many(["以前", "seen", "以前"]) == [0, 1, 0]
    assert run(command, "dict", "get", "--store", store, text="seen\n以前\n") == "seen\t1\n以前\t0\n"
    other = tmp_path / "other"
    run(command, "dict", "number", "--store", other, text="a\nb\na\n")
    with furui.Dict(other) as words:
        assert dict(words.items()) == {"a": 0, "b": 1}
