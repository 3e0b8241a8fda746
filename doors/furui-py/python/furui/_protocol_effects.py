"""The manifest of a set in a bucket, and the requests that its protocol asks the caller to make.

The protocol itself is in ``_protocol``. It makes no request: its generators yield the effects of this module, and the
caller, who has the client of the bucket, sends back their results.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from .errors import Error

__all__ = [
    "KEPT_COMMITS",
    "ContentionError",
    "Delete",
    "Effect",
    "List",
    "Missing",
    "Object",
    "Pause",
    "Put",
    "Read",
    "ReplacedError",
    "State",
    "Steps",
    "Swap",
    "Tag",
    "UncertainError",
]

#: The number of commits whose ids a manifest keeps, so that a writer whose answer was lost finds its own.
KEPT_COMMITS: Final = 64

#: The entity tag of a manifest, as the service has sent it. No two manifests of a set have the same.
Tag: TypeAlias = Any

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Object:
    """An immutable object of the bucket: the runs of all shards that one task has built, and a table of them."""

    #: The random name, of 16 bytes. A name is used for one put only, so what it names never changes.
    id: bytes
    #: The length in bytes. A reader compares it, because an answer may be cut without an error.
    length: int
    #: The number of keys. Objects of a set may share keys.
    keys: int
    #: The offset of the table in the object, in bytes.
    table_offset: int
    #: The length of the table in bytes.
    table_length: int
    #: The checksum of the table, which has the lengths and checksums of the runs.
    table_checksum: int


@dataclass(frozen=True, slots=True)
class State:
    """The decoded manifest of a set: all that the set is at one moment. Each commit replaces it by another."""

    #: The random id of the set, of 16 bytes. A set that was deleted and created again has another.
    store: bytes
    #: The number of commits since the set was created.
    generation: int
    #: The number of sweeps. An object that was put in an earlier epoch must not be added: a sweep may delete it.
    epoch: int
    #: The number of shards, a power of two.
    shards: int
    #: The objects whose keys are the set.
    objects: tuple[Object, ...]
    #: The ids of the objects that merges have replaced, and when, in seconds since 1970: readers may still need them.
    dropped: tuple[tuple[bytes, int], ...]
    #: The note, such as the snapshot of a table up to which its keys are recorded; None if there is none yet.
    note: str | None
    #: The ids of the last KEPT_COMMITS commits, of 16 bytes each, the latest last.
    commits: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Asks for the manifest. The result is (State, Tag), of one answer. If there is none, Missing is thrown."""


@dataclass(frozen=True, slots=True)
class Put:
    """Asks to put what a commit adds, each object under a random name that was never used before.

    The result is a tuple of Object, once all are known to have arrived. This may come twice in a commit, with the same
    parts: the names must be fresh again.
    """

    parts: Any


@dataclass(frozen=True, slots=True)
class Swap:
    """Asks to replace the manifest if its tag is still this one, or to create it if the tag is None.

    The result is True if the service said that it has done so, and False after every error: a lost race, a timeout, a
    broken connection. False does not say that it was not done.
    """

    state: State
    tag: Tag | None


@dataclass(frozen=True, slots=True)
class List:
    """Asks which objects there are. The result is a sequence of (id, age in seconds)."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Asks to delete objects. Some may be gone already. Errors may be ignored: the next sweep comes to them again."""

    ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Asks to wait before the next attempt, for a random time that grows with this number, which begins with 1."""

    attempt: int


Effect: TypeAlias = Read | Put | Swap | List | Delete | Pause

#: A generator that yields effects, is sent their results, and returns a result of its own.
Steps: TypeAlias = Generator[Effect, Any, _Result]


class Missing(Error):
    """There is no manifest: no set was created here."""


class ReplacedError(Error):
    """The set was deleted, and another one was created in its place."""


class ContentionError(Error):
    """All attempts to replace the manifest have failed. A request that is still on its way may succeed later."""


class UncertainError(Error):
    """So many others have committed since a request without an answer that it is unknown whether it succeeded."""
