"""The exceptions of furui."""

from __future__ import annotations


class Error(OSError):
    """Anything that went wrong with a set, a filter or a dictionary, or with its files."""


class LockedError(Error):
    """Another process, or another object of this one, writes to the store."""


class DamageError(Error):
    """A file is damaged, missing or cut off. Nothing that is read from it is believed."""

    #: The file.
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
