"""A simulated table, of which a set has the keys, with the law that its rows come twice only where that is allowed."""

from __future__ import annotations

import random
from dataclasses import dataclass

#: The number of keys that rows may have. A key is a bit, and a set of keys is an integer.
KEYS = 12


@dataclass(eq=False, slots=True)
class Asker:
    """An attempt of a job: the generation of the set that it has asked, and whether it has crashed."""

    generation: int = -1
    has_crashed: bool = False


@dataclass(eq=False, slots=True)
class Snapshot:
    """The keys of its own rows, and the keys and the snapshots, as bits, of all that is in it."""

    keys: int = 0
    total: int = 0
    past: int = 1
    asker: Asker | None = None


class Table:
    """Snapshots, each of which has one before it. Number 0 is the empty table."""

    def __init__(self, sometimes: set[str]) -> None:
        self.sometimes = sometimes
        self.snapshots = [Snapshot()]
        self.head = 0
        #: The first generation of the set that has the rows of a snapshot for sure: someone was told so.
        self.covered: dict[int, int] = {}

    @property
    def total(self) -> int:
        """The keys of all rows of the table."""
        return self.snapshots[self.head].total

    def appended(self, note: str | None, head: int) -> int:
        """The keys of the rows of all snapshots after that of the note, up to the head."""
        keys, past = 0, self.snapshots[head].past & ~self.snapshots[int(note or 0)].past
        for number in range(head + 1):
            if past >> number & 1:
                keys |= self.snapshots[number].keys
        return keys

    def is_ancestor(self, earlier: str, later: str) -> bool:
        return bool(self.snapshots[int(later)].past >> int(earlier) & 1)

    def append(self, keys: int, asker: Asker) -> int:
        """Commits rows, and returns the number of the new snapshot."""
        before = self.snapshots[self.head]
        if keys & before.total:
            self._check_repeats(keys, before, asker)
        self.head = len(self.snapshots)
        self.snapshots.append(Snapshot(keys, before.total | keys, before.past | 1 << self.head, asker))
        return self.head

    def _check_repeats(self, keys: int, before: Snapshot, asker: Asker) -> None:
        """Checks that the state of the set that the job has asked did not have to know the keys of earlier rows.

        It had to if someone was told so before: the job that wrote them, at its end, or one that caught up with it.
        """
        for number, snapshot in enumerate(self.snapshots):
            if before.past >> number & 1 and snapshot.keys & keys:
                assert snapshot.asker
                known_from = self.covered.get(number)
                assert known_from is None or known_from > asker.generation, "a row came twice, though recorded"
                why = "after a crash" if snapshot.asker.has_crashed else "from jobs at the same time"
                self.sometimes.add(f"a row came twice, {why}")

    def cover(self, head: int, generation: int, known: int) -> None:
        """Someone was told that this generation of the set, which knows these keys, has all rows up to the head."""
        assert not self.snapshots[head].total & ~known, "a committed key is not known"
        for number, snapshot in enumerate(self.snapshots):
            if self.snapshots[head].past >> number & 1 and number not in self.covered:
                self.covered[number] = generation
                if snapshot.asker and snapshot.asker.has_crashed:
                    self.sometimes.add("the rows of a job that crashed were recorded by others")

    def roll_back(self, draw: random.Random) -> None:
        """Makes the snapshot itself or an earlier one the head."""
        past = self.snapshots[self.head].past
        self.head = draw.choice([number for number in range(self.head + 1) if past >> number & 1])
        self.sometimes.add("a rollback")
