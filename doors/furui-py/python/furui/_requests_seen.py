"""The file in which Scrapy's own filter keeps its fingerprints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .errors import ConfigError


def fingerprints_in(file: Path) -> Iterator[bytes]:
    """The fingerprints in a file of Scrapy's own filter. One that was cut off at the end is left out.

    Since Scrapy 2.19 each has its length in front, in two bytes; before, each was a line of hexadecimal digits. A line
    that was cut off by a crash has the first line of the next run behind it.
    """
    garbage = ConfigError(f"{file}: not the fingerprints of Scrapy: move the file away, or use another JOBDIR")
    with file.open("rb") as data:
        if data.peek(1)[:1] == b"\0":
            while len(size := data.read(2)) == 2:
                length = int.from_bytes(size, "big")
                if not 0 < length < 256:
                    raise garbage
                fingerprint = data.read(length)
                if len(fingerprint) < length:
                    return
                yield fingerprint
            return
        width = 0
        for line in data:
            digits = line.rstrip(b"\r\n")
            width = width or len(digits)
            if not re.fullmatch(rb"[0-9a-f]*", digits):
                raise garbage
            if not line.endswith(b"\n"):
                return
            if not 0 < width <= len(digits) or width % 2:
                raise garbage
            yield bytes.fromhex(digits[-width:].decode())
