"""The processes around a simulated set: jobs that drop what was seen, catching up, merges, sweeps, and readers."""

from __future__ import annotations

from enum import Enum
from typing import Any

from furui import _protocol as protocol
from furui._protocol_effects import ContentionError, List, Missing, Object, Put, Read, State, Swap, UncertainError
from furui.errors import ConflictError
from protocol_table import KEYS, Asker
from protocol_world import Append, Fetch, Gone, Head, PutOne, RollBack, Sleep, Steps, World, named


class Standing(Enum):
    """How the note of a set stands to the head of its source."""

    SAME = "all is recorded"
    BEHIND = "the source has more"
    TOLD = "the source went back behind the note: the set may know keys whose rows are no more"


def standing(note: str | None, head: str | None, is_ancestor: protocol.IsAncestor) -> Standing:
    """Compares a note with the head of its source, which must have been read after the note was.

    A head that was read before may be one that others have caught up with and left behind since: that would look like a
    source that went back. None as a head is a source without a snapshot.
    """
    if note == head:
        return Standing.SAME
    return Standing.BEHIND if protocol.contains(note, head, is_ancestor) else Standing.TOLD


class Told(Exception):
    """The table was rolled back behind the note of the set."""


def drive(world: World, steps: Any) -> Steps:
    """Runs a generator of the protocol. What it asks to put is put by tasks, one object each."""
    puts = 0
    swap: Swap | None = None
    won = True
    result: Any = None
    error: Exception | None = None
    try:
        while True:
            effect = steps.throw(error) if error else steps.send(result)
            error = None
            try:
                if type(effect) is Put:
                    puts += 1
                    result = yield from _put(world, effect.parts)
                else:
                    result = yield effect
            except Missing as missing:
                error = missing
            if type(effect) is Swap:
                swap, won = effect, result
    except StopIteration as stop:
        _note_end(world, swap, won, gave_up=stop.value is None)
        return stop.value
    except (protocol.Restart, ConflictError):
        _note_end(world, swap, won, gave_up=True)
        raise
    finally:
        if puts > 1:
            world.sometimes.add("put again after a sweep")


def _note_end(world: World, swap: Swap | None, won: bool, gave_up: bool) -> None:
    """Checks that a commit that has ended, and knows how, is right about it."""
    if not swap or not swap.state.commits:
        return
    id = swap.state.commits[-1]
    if won:
        assert id in world.applied
    elif id in world.applied:
        assert not gave_up, "a commit is applied whose writer knows that it is not"
        world.sometimes.add("an error, and yet won")
    else:
        world.refused.add(id)


def _put(world: World, parts: tuple[int, ...]) -> Steps:
    objects: list[Object] = []
    yield from dawdle(world)
    for keys in parts:
        for twin in range(2):
            while True:
                id = keys.to_bytes(16, "little") if "same names" in world.flaws else world.name()
                if (yield PutOne(id, keys)):
                    break
                world.sometimes.add("a task put its object again under another name")
            if twin or not world.chance(0.1):
                break
            world.sometimes.add("a task and its twin have put an object each")
        objects.append(named(id))
    return tuple(objects)


def dawdle(world: World) -> Steps:
    """The time that a task takes to begin, which may be long."""
    if world.chance(0.3):
        yield Sleep(world.random.randrange(80))


def split(world: World, keys: int) -> tuple[int, ...]:
    """The keys of two tasks, or of one."""
    some = keys & world.random.getrandbits(KEYS)
    return tuple(part for part in (some, keys & ~some) if part)


def note_of(head: int) -> str | None:
    return str(head) if head else None


def stands(world: World, state: State, head: int) -> Standing:
    return standing(state.note, note_of(head), world.table.is_ancestor)


def create(world: World) -> Steps:
    """Creates the set, as one of several who do."""
    try:
        state = yield from drive(world, protocol.create(world.name(), 1))
    except ContentionError:
        return
    assert state.store == world.states[0].store


def moves_back(world: World, target: str) -> protocol.Rule:
    return lambda found: protocol.Become(target)


def catch_up(world: World) -> Steps:
    """Records what was appended since the note. Raises Told."""
    while True:
        base, _ = yield Read()
        head = yield Head()
        stand = stands(world, base, head)
        if stand is Standing.SAME:
            world.cover(head, base)
            return
        if stand is Standing.TOLD:
            raise Told
        rows = world.table.appended(base.note, head)
        rule: protocol.Rule = protocol.CatchUp(base.note, str(head), world.table.is_ancestor)
        if "note moves back" in world.flaws:
            rule = moves_back(world, str(head))
        steps = protocol.commit(world.name(), base, split(world, rows), rule)
        try:
            state = yield from drive(world, steps)
        except (protocol.Restart, ContentionError, UncertainError) as error:
            world.sometimes.add(type(error).__name__)
            continue
        if state.note is None or not world.table.is_ancestor(str(head), state.note):
            world.sometimes.add("caught up, and rebuilt by others since")
            continue
        if state.note != str(head):
            world.sometimes.add("done by others, who have gone on")
        world.cover(head, state)
        return


def rebuild(world: World) -> Steps:
    """Builds the set anew from the table, if the note says that it was rolled back."""
    while True:
        base, _ = yield Read()
        head = yield Head()
        if stands(world, base, head) is not Standing.TOLD:
            return
        rule = protocol.Expect(note_of(head), after=base.note)
        parts = split(world, world.table.snapshots[head].total)
        steps = protocol.merge(world.name(), base, base.objects, parts, world.now(), rule)
        try:
            state = yield from drive(world, steps)
        except (ConflictError, ContentionError, UncertainError) as error:
            world.sometimes.add(f"{type(error).__name__} of a rebuild")
            continue
        if state is not None:
            world.sometimes.add("the set rebuilt")
            world.cover(head, state)
            return
        world.sometimes.add("a rebuild that lost")


def settle(world: World) -> Steps:
    """Catches up with the table, and rebuilds the set if it is told to."""
    while True:
        try:
            yield from catch_up(world)
            return
        except Told:
            world.sometimes.add("told while catching up")
            yield from rebuild(world)


def start_job(world: World, keys: int, attempts: int = 3) -> None:
    """Starts a job that is tried again after a crash."""
    askers = [Asker()]

    def again() -> None:
        askers[-1].has_crashed = True
        if attempts > 1 and world.chance(0.8):
            start_job(world, keys, attempts - 1)

    world.start(job(world, keys, askers), again)


def job(world: World, keys: int, askers: list[Asker]) -> Steps:
    """Drops the keys that were seen, commits the rest to the table, and records what is in the table."""
    yield Sleep(world.random.randrange(200))
    while True:
        if world.chance(0.5):
            yield from settle(world)
        base, generation = yield Read()
        head = yield Head()
        askers.append(Asker(generation))
        if stands(world, base, head) is Standing.TOLD:
            world.sometimes.add("told before a job")
            yield from rebuild(world)
            continue
        try:
            new = yield from ask(world, base, keys)
        except Gone:
            continue
        if "recorded before the commit" in world.flaws:
            yield from record(world, base, new, protocol.Expect())
        own = (yield Append(new, askers[-1])) if new else (yield Head())
        if "own rows only" in world.flaws:
            # The note is the own snapshot, unless that is in the past of the note already.
            yield from record(world, base, new, latest(world, str(own)))
        else:
            yield from settle(world)
        told = base.note is not None and not (own and world.table.is_ancestor(base.note, str(own)))
        if not told or "not compared after the commit" in world.flaws:
            assert not keys & ~world.table.snapshots[own].total, "a job has lost a row, and untold"
            return
        if keys & ~world.table.snapshots[own].total:
            world.sometimes.add("a job dropped rows that a rollback removed, and was told")


def ask(world: World, base: State, keys: int) -> Steps:
    """Asks in tasks, some of them twice: the answers are the same. Returns the keys that are new."""
    new = 0
    for part in split(world, keys):
        yield from dawdle(world)
        known = yield Fetch(base.objects)
        if world.chance(0.1):
            assert known == (yield Fetch(base.objects))
            world.sometimes.add("a task asked twice")
        new |= part & ~known
    if new != keys:
        world.sometimes.add("a job dropped rows")
    return new


def record(world: World, base: State, keys: int, rule: protocol.Rule) -> Steps:
    """Adds only these keys to the set, which is a flaw."""
    while keys:
        try:
            yield from drive(world, protocol.commit(world.name(), base, (keys,), rule))
            return
        except (ContentionError, UncertainError):
            continue


def latest(world: World, own: str) -> protocol.Rule:
    return lambda found: protocol.Become(own if found is None or world.table.is_ancestor(found, own) else found)


def roll_back(world: World) -> Steps:
    yield Sleep(world.random.randrange(300))
    yield RollBack()


def merger(world: World) -> Steps:
    """Merges some objects."""
    yield Sleep(world.random.randrange(250))
    base, _ = yield Read()
    if len(base.objects) < 2:
        return
    chosen = world.random.sample(base.objects, world.random.randrange(2, len(base.objects) + 1))
    try:
        known = yield Fetch(tuple(chosen))
        if "merge of what is gone" in world.flaws:
            chosen = []
        merged = yield from drive(world, protocol.merge(world.name(), base, chosen, (known,), world.now()))
    except (Gone, ContentionError, UncertainError):
        return
    world.sometimes.add("a merge that lost" if merged is None else "a merge")


def sweeper(world: World) -> Steps:
    """Sweeps once."""
    yield Sleep(world.random.randrange(400))
    base, _ = yield Read()
    try:
        steps = protocol.sweep(world.name(), base, world.older_than, world.now())
        yield from drive(world, list_late(steps) if "listed after the epoch" in world.flaws else steps)
    except (ContentionError, UncertainError):
        return


def list_late(steps: Any) -> Steps:
    """The flaw of a sweep that lists the objects after it has committed the new epoch."""
    next(steps)
    listed: list[Any] = []
    result: Any = listed
    while True:
        try:
            effect = steps.send(result)
        except StopIteration as stop:
            return stop.value
        result = yield effect
        if type(effect) is Swap:
            listed[:] = yield List()


def reader(world: World) -> Steps:
    """Reads objects of one generation again and again, for a while."""
    yield Sleep(world.random.randrange(250))
    base, _ = yield Read()
    known = None
    try:
        for _ in range(4):
            now = yield Fetch(base.objects)
            assert known is None or known == now
            known = now
            yield Sleep(world.random.randrange(80))
    except Gone:
        return


def writer(world: World, keys: int) -> Steps:
    """Adds keys to a set without a source. Most of the writers count in the note, which must not go wrong."""
    yield Sleep(world.random.randrange(150))
    base, _ = yield Read()
    id = world.name()
    rule = protocol.Expect()
    if world.chance(0.7):
        rule = protocol.Expect(str(int(base.note or 0) + 1), after=base.note)
        world.counted.add(id)
    try:
        yield from drive(world, protocol.commit(id, base, (keys,), rule))
    except (ConflictError, ContentionError, UncertainError) as error:
        world.sometimes.add(f"{type(error).__name__} of a writer")
        return
    assert id in world.applied, "a commit is not applied, though its writer was told so"
