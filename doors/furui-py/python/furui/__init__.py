"""Have I seen this? An exact set that remembers across runs, Bloom and quotient filters, a dictionary on storage."""

import atexit as _atexit
import os as _os
from collections.abc import MutableMapping as _MutableMapping

from ._furui import (
    Answers,
    BlockedBloom,
    Bloom,
    CountingBloom,
    Dict,
    Filter,
    Fuse,
    QuotientFilter,
    RingedBloom,
    Run,
    ScalableBloom,
    Seen,
    SplitBlockBloom,
    StableBloomLight,
    WindowBloom,
    __version__,
    _after_fork,
    _close_all,
    export_hashes,
    hash_many,
    import_hashes,
    intersect,
    shard_of,
    subtract,
    union,
)
from ._record import record
from .errors import ConfigError, ConflictError, DamageError, Error, FullError, LockedError

__all__ = [
    "Answers",
    "BlockedBloom",
    "Bloom",
    "ConfigError",
    "ConflictError",
    "CountingBloom",
    "DamageError",
    "Dict",
    "Error",
    "Filter",
    "FullError",
    "Fuse",
    "LockedError",
    "QuotientFilter",
    "RingedBloom",
    "Run",
    "ScalableBloom",
    "Seen",
    "SplitBlockBloom",
    "StableBloomLight",
    "WindowBloom",
    "__version__",
    "export_hashes",
    "hash_many",
    "import_hashes",
    "intersect",
    "record",
    "shard_of",
    "subtract",
    "union",
]

_MutableMapping.register(Dict)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)
_atexit.register(_close_all)
