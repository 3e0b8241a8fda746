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
    QuotientFilter,
    RingedBloom,
    ScalableBloom,
    Seen,
    SplitBlockBloom,
    StableBloomLight,
    __version__,
    _after_fork,
    _close_all,
)
from .errors import ConfigError, DamageError, Error, FullError, LockedError

__all__ = [
    "Answers",
    "BlockedBloom",
    "Bloom",
    "ConfigError",
    "CountingBloom",
    "DamageError",
    "Dict",
    "Error",
    "Filter",
    "FullError",
    "LockedError",
    "QuotientFilter",
    "RingedBloom",
    "ScalableBloom",
    "Seen",
    "SplitBlockBloom",
    "StableBloomLight",
    "__version__",
]

_MutableMapping.register(Dict)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)
_atexit.register(_close_all)
