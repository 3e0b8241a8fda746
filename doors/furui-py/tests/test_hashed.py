"""With hashed=True the keys are hashes: one is another only if its number is, and every pattern costs the same."""

import hashlib
import time
import uuid
from collections.abc import Callable
from typing import Any

import furui
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

COUNT = 60_000
DIGESTS = [hashlib.sha1(b"%d" % i).digest() for i in range(COUNT)]


def test_text_is_refused() -> None:
    texts = [f"https://example.org/{i}" for i in range(3)]
    batches: list[Any] = [
        texts,
        iter(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pd.Series(texts),
        pd.Series(texts, dtype="category"),
        pa.array(texts),
        pa.array(texts).dictionary_encode(),
        [uuid.UUID(int=i) for i in range(3)],
    ]
    seen = furui.Seen()
    for batch in batches:
        functions: list[Any] = [seen.add_many, seen.has_many, seen.discard_many]
        for function in functions:
            with pytest.raises(TypeError, match="with hashed=True a key must be a 64-bit int"):
                function(batch, hashed=True)
    for add in [seen.add, seen.has, seen.discard]:
        with pytest.raises(TypeError, match="with hashed=True a key must be a 64-bit int"):
            add(texts[0], hashed=True)
    assert len(seen) == 0
    assert seen.add(None, hashed=True) and not seen.add_many(pa.nulls(1), hashed=True)[0].as_py()


def test_every_number_is_a_hash_of_its_own() -> None:
    seen = furui.Seen()
    assert all(seen.add_many(range(10_000), hashed=True)), "0 and 1 are two"
    assert all(seen.has_many(np.arange(10_000), hashed=True))
    assert all(seen.add_many([2**64 - 1 - i for i in range(10_000)], hashed=True))
    assert not seen.add(-1, hashed=True), "the bits are those of 2**64 - 1"
    assert len(seen) == 20_000


def test_a_digest_is_its_first_eight_bytes_in_every_form() -> None:
    seen = furui.Seen()
    digest = DIGESTS[0]
    assert seen.add(digest, hashed=True)
    digits = digest.hex().encode()
    forms: list[Any] = [digest[:8], int.from_bytes(digest[:8], "little"), digits, digits.upper()]
    for form in forms:
        assert not seen.add(form, hashed=True)
        assert seen.has_many([form], hashed=True) == [True]
    assert seen.add(digest, hashed=False)


PATTERNS: dict[str, Callable[[int], Any]] = {
    "in sequence": lambda i: i,
    "shifted": lambda i: i << 20,
    "shifted far": lambda i: i << 48,
    "times in nanoseconds": lambda i: 1_764_000_000_000_000_000 + i * 1000,
    "the top first": lambda i: 2**64 - 1 - i,
    "digits of digests": lambda i: DIGESTS[i].hex().encode(),
}


def cost(keys: list[Any]) -> float:
    best = 1e9
    for _ in range(3):
        seen = furui.Seen()
        start = time.process_time()
        assert sum(seen.add_many(keys, hashed=True)) == COUNT
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_costs_no_more_than_digests(name: str) -> None:
    """Without the mixing, 80,000 numbers in sequence take a second, and a million do not end."""
    keys = [PATTERNS[name](i) for i in range(COUNT)]
    assert cost(keys) < 3 * cost(DIGESTS) + 0.02
