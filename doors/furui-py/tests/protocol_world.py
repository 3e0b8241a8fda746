"""A bucket with faults, a table, and a scheduler that interleaves processes at every request; all of it from a seed.

The world checks the laws of a set whenever something changes. A broken law is an AssertionError.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from furui._protocol_effects import Delete, List, Missing, Object, Pause, Read, State, Swap
from protocol_table import Asker, Table

#: What may happen to a request that changes the bucket.
FAULTS = ("lost", "without an answer", "delayed", "repeated", "repeated by the client")

#: What an Object has besides its name does not matter to the protocol.
_FIELDS = (100, 1, 60, 40, 7)

Steps: TypeAlias = Generator[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class PutOne:
    """A task puts an object with these keys under this name. The result is True if it is known to have arrived."""

    id: bytes
    keys: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """Reads objects that a state names. The result is the union of their keys. If one is missing, Gone is thrown."""

    objects: tuple[Object, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """Asks for the latest snapshot of the table; 0 is that of the empty table."""


@dataclass(frozen=True, slots=True)
class Append:
    """Commits rows with these keys to the table. The result is the new snapshot."""

    keys: int
    asker: Asker


@dataclass(frozen=True, slots=True)
class RollBack:
    """Makes an earlier snapshot the head of the table."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Waits for this many units of time."""

    time: int


class Gone(Exception):
    """An object is missing: it was replaced so long ago that a sweep has deleted it."""


@dataclass(eq=False, slots=True)
class Process:
    """A generator that runs until it ends or crashes, and the result of its last request."""

    steps: Steps
    after_crash: Callable[[], None] | None = None
    result: Any = None
    error: Exception | None = None
    wakes: int = 0


class World:
    """The bucket, the table and the processes of one history.

    flaws: the names of deviations from the protocol, which the world applies to requests and results.
    sometimes: the names of events that have occurred are added to it.
    """

    def __init__(self, seed: int, flaws: frozenset[str] = frozenset(), sometimes: set[str] | None = None) -> None:
        self.random = random.Random(seed)
        self.flaws = flaws
        self.sometimes = set() if sometimes is None else sometimes
        self.fault_rate = self.random.choice((0.0, 0.05, 0.2, 0.4))
        self.stale_rate = self.random.choice((0.0, 0.1, 0.4))
        self.crash_rate = self.random.choice((0.0, 0.01, 0.04))
        #: False if each process has a clock of its own that is far from right. Readers are not protected then.
        self.has_clocks = self.random.random() < 0.5
        self.older_than = 60 if self.has_clocks and self.random.random() < 0.7 else 0
        self.clock = 1000
        self.processes: list[Process] = []
        #: Requests on their way, and the word for their kind.
        self.late: list[tuple[str, Callable[[], bool]]] = []
        #: The states of the set by generation, which is their tag, too, and the keys of the last one.
        self.states: list[State] = []
        self.known = 0
        #: True as soon as no creator of the set is running.
        self.is_created = False
        #: The times at which the objects of the bucket were put; and the keys of all objects ever.
        self.objects: dict[bytes, int] = {}
        self.contents: dict[bytes, int] = {}
        #: The objects that a state has ever named, and when those that are dropped were.
        self.named: set[bytes] = set()
        self.dropped: dict[bytes, int] = {}
        #: The ids of the commits that were applied.
        self.applied: set[bytes] = set()
        #: The ids of the commits of which their writers know that they were not applied, and never will be.
        self.refused: set[bytes] = set()
        self.table = Table(self.sometimes)
        #: The keys that are committed to no table: their commits are of sets without a source.
        self.plain = 0
        #: The ids of commits that add 1 to a number in the note.
        self.counted: set[bytes] = set()
        self._names = 0
        self._perform: dict[type, Callable[[Any, Process], Any]] = {
            Append: lambda effect, process: self.table.append(effect.keys, effect.asker),
            Delete: self._delete,
            Fetch: self._fetch,
            Head: lambda effect, process: self.table.head,
            List: self._list,
            Pause: lambda effect, process: self._sleep(Sleep(self.random.randrange(20)), process),
            PutOne: self._put,
            Read: self._read,
            RollBack: self._roll_back,
            Sleep: self._sleep,
            Swap: self._swap,
        }

    def name(self) -> bytes:
        """A name that was never used before."""
        self._names += 1
        return self._names.to_bytes(16, "big")

    def now(self) -> int:
        """The time on the clock of the process that asks."""
        return self.clock if self.has_clocks else self.clock + self.random.randrange(-5000, 5000)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # The scheduler.

    def start(self, steps: Steps, after_crash: Callable[[], None] | None = None) -> None:
        self.processes.append(Process(steps, after_crash))

    def run(self) -> None:
        """Runs all processes to their end: one request at a time, each of any process."""
        draw = self.random.random
        while self.processes:
            self.clock += 1
            assert self.clock < 20_000, "a history does not end"
            process = self.processes[int(draw() * len(self.processes))]
            if self.late and draw() < 0.1:
                self.deliver()
            if process.wakes > self.clock:
                continue
            try:
                error, process.error = process.error, None
                effect = process.steps.throw(error) if error else process.steps.send(process.result)
            except StopIteration:
                self.processes.remove(process)
                continue
            try:
                process.result = self._perform[type(effect)](effect, process)
            except (Gone, Missing) as missing:
                process.error = missing
            if draw() < self.crash_rate:
                self.sometimes.add(f"crash after {type(effect).__name__}")
                if type(effect) is Swap and effect.state.commits[-1:] and effect.state.commits[-1] in self.applied:
                    self.sometimes.add("crash after a Swap that won")
                self.processes.remove(process)
                process.steps.close()
                if process.after_crash:
                    process.after_crash()

    def deliver(self) -> None:
        """Lets one of the requests on their way arrive."""
        kind, arrive = self.late.pop(self.random.randrange(len(self.late)))
        self.sometimes.add(f"{kind} arrived late, and was {'done' if arrive() else 'refused'}")

    def _send(self, kind: str, arrive: Callable[[], bool]) -> bool:
        """Sends a request that may be lost, delayed or doubled, and whose answer may be lost. Returns its answer."""
        if self.random.random() >= self.fault_rate:
            return arrive()
        fault = self.random.choice(FAULTS)
        self.sometimes.add(f"{kind} {fault}")
        if fault == "lost":
            return False
        if fault == "delayed":
            self.late.append((kind, arrive))
            return False
        done = arrive()
        if fault == "repeated":
            self.late.append((kind, arrive))
            return done
        return fault == "repeated by the client" and arrive()

    # The bucket.

    def _read(self, effect: Read, process: Process) -> tuple[State, int]:
        generation = len(self.states) - 1
        if generation >= 0 and self.random.random() < self.stale_rate:
            self.sometimes.add("a stale manifest read")
            generation = max(generation - self.random.randrange(1, 6), 0 if self.is_created else -1)
        if generation < 0:
            raise Missing("no manifest")
        state = self.states[generation]
        if "own id not read" in self.flaws:
            state = replace(state, commits=())
        return state, generation

    def _swap(self, effect: Swap, process: Process) -> bool:
        state = effect.state
        if "sweep without epoch" in self.flaws:
            state = replace(state, epoch=0)
        if "replaced objects not kept" in self.flaws:
            state = replace(state, dropped=())
        if "one commit remembered" in self.flaws:
            state = replace(state, commits=state.commits[-1:])

        def arrive() -> bool:
            if effect.tag != (len(self.states) - 1 if self.states else None):
                return False
            self._apply(state)
            return True

        return self._send("swap", arrive)

    def _apply(self, state: State) -> None:
        """Makes this the state of the set, and checks the laws."""
        known = 0
        for each in state.objects:
            assert each.id in self.objects, "the manifest names an object that does not exist"
            known |= self.contents[each.id]
            self.named.add(each.id)
        if self.states:
            before = self.states[-1]
            assert state.generation == before.generation + 1 and state.store == before.store, "not the next state"
            id = state.commits[-1]
            assert id not in self.applied, "a commit is applied twice"
            assert id not in self.refused, "a commit is applied whose writer knows that it is not"
            self.applied.add(id)
        for id, time in state.dropped:
            self.dropped.setdefault(id, time)
        assert not self.plain or not self.known & ~known, "a commit has removed keys"
        self.states.append(state)
        self.known = known
        self.check_early()

    def check_early(self) -> None:
        """Checks that the set knows no key without a row; or else that its note says so to all who compare it."""
        early = self.known & ~self.table.total & ~self.plain
        if early:
            note = self.states[-1].note
            told = note is not None and not self.table.is_ancestor(note, str(self.table.head))
            assert told, "the set knows keys without rows, and untold"
            self.sometimes.add("the set knew keys without rows, and told")

    def _put(self, effect: PutOne, process: Process) -> bool:
        def arrive() -> bool:
            if effect.id in self.objects:
                return False
            if effect.id in self.contents:
                self.sometimes.add("an object came back after it was deleted")
            self.objects[effect.id] = self.clock
            self.contents[effect.id] = effect.keys
            return True

        # A client who finds the object under a name that is his own knows that it has arrived.
        return self._send("put", arrive) or ("same names" in self.flaws and effect.id in self.objects)

    def _fetch(self, effect: Fetch, process: Process) -> int:
        known = 0
        for each in effect.objects:
            if each.id not in self.objects:
                if self.has_clocks:
                    dropped = self.dropped.get(each.id)
                    assert dropped is not None, "a reader lacks an object that was never dropped"
                    assert self.clock - dropped > self.older_than, "a reader lacks an object too early"
                self.sometimes.add("a reader came too late for an object")
                raise Gone
            known |= self.contents[each.id]
        return known

    def _list(self, effect: List, process: Process) -> list[tuple[bytes, int]]:
        error = 0 if self.has_clocks else self.random.randrange(-5000, 5000)
        return [(id, self.clock - time + error) for id, time in self.objects.items()]

    def _delete(self, effect: Delete, process: Process) -> None:
        for id in effect.ids:
            self._send("delete", lambda id=id: self._delete_one(id))  # type: ignore[misc]

    def _delete_one(self, id: bytes) -> bool:
        if self.objects.pop(id, None) is None:
            return False
        assert all(each.id != id for each in self.states[-1].objects), "an object of the set was deleted"
        self.sometimes.add("a replaced object deleted" if id in self.named else "an orphan deleted")
        return True

    def cover(self, head: int, state: State) -> None:
        """Someone was told that this state of the set has all rows up to this snapshot of the table."""
        known = 0
        for each in state.objects:
            known |= self.contents[each.id]
        self.table.cover(head, state.generation, known)

    def _roll_back(self, effect: RollBack, process: Process) -> None:
        self.table.roll_back(self.random)
        self.check_early()

    def _sleep(self, effect: Sleep, process: Process) -> None:
        process.wakes = self.clock + effect.time


def named(id: bytes) -> Object:
    return Object(id, *_FIELDS)
