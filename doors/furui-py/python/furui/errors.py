"""The exceptions of furui."""

from __future__ import annotations


class Error(OSError):
    """An error of a set, a filter or a dictionary, or of its files: the base class of all exceptions of furui."""


class LockedError(Error):
    """Another process, or another object of this process, has the store open for writing."""


class DamageError(Error):
    """A file is damaged, missing or cut off. No data of it is used."""

    #: The path of the damaged file.
    path: str
    #: The offset in the file, in bytes, at which the damage was found.
    offset: int

    def __init__(self, message: str, path: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset

    def __reduce__(self) -> tuple[type[DamageError], tuple[str, str, int]]:
        return (type(self), (str(self), self.path, self.offset))


class ConfigError(Error, ValueError):
    """An argument is invalid, or does not fit the set, the filter or the dictionary."""


class ConflictError(Error):
    """Another commit came first. Ask again, and commit what is new then."""


class FullError(Error):
    """A filter of fixed size has no room for another key."""
