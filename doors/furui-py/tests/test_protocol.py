"""The protocol of a set in a bucket, simulated: whatever fails, no row is lost, and no commit is applied twice.

The variable FURUI_HISTORIES is the number of histories; 100000 take minutes. ``play(seed)`` repeats one.
"""

import os
from dataclasses import replace
from typing import Any
from unittest import mock

import protocol_jobs as jobs
import pytest
from furui import _protocol as protocol
from furui import _protocol_effects as effects
from furui.errors import ConflictError
from protocol_table import KEYS
from protocol_world import FAULTS, World, named

HISTORIES = int(os.environ.get("FURUI_HISTORIES", "5000"))

#: Deviations from the protocol, and the law that each breaks.
FLAWS = {
    "listed after the epoch": "an object of the set was deleted",
    "merge of what is gone": "the set knows keys without rows, and untold",
    "not compared after the commit": "a job has lost a row, and untold",
    "note moves back": "the set knows keys without rows, and untold",
    "one commit remembered": "a commit is applied twice",
    "own id not read": "a commit is applied twice",
    "own rows only": "a committed key is not known",
    "recorded before the commit": "the set knows keys without rows, and untold",
    "replaced objects not kept": "a reader lacks an object that was never dropped",
    "same names": "the manifest names an object that does not exist",
    "sweep without epoch": "the manifest names an object that does not exist",
}

#: What must have occurred in some of 5,000 histories.
SOMETIMES = {
    *(f"{kind} {fault}" for kind in ("delete", "put", "swap") for fault in FAULTS),
    *(f"{kind} arrived late, and was {end}" for kind in ("delete", "put", "swap") for end in ("done", "refused")),
    *(f"crash after {each}" for each in "Append Delete Fetch Head List Pause PutOne Read RollBack Sleep Swap".split()),
    "ConflictError of a rebuild",
    "ConflictError of a writer",
    "ContentionError",
    "ContentionError of a writer",
    "Restart",
    "UncertainError",
    "UncertainError of a rebuild",
    "UncertainError of a writer",
    "a job dropped rows",
    "a job dropped rows that a rollback removed, and was told",
    "a merge",
    "a merge that lost",
    "a reader came too late for an object",
    "a rebuild that lost",
    "a replaced object deleted",
    "a rollback",
    "a row came twice, after a crash",
    "a row came twice, from jobs at the same time",
    "a stale manifest read",
    "a task and its twin have put an object each",
    "a task asked twice",
    "a task put its object again under another name",
    "an error, and yet won",
    "an object came back after it was deleted",
    "an orphan deleted",
    "crash after a Swap that won",
    "done by others, who have gone on",
    "put again after a sweep",
    "the rows of a job that crashed were recorded by others",
    "the set knew keys without rows, and told",
    "the set rebuilt",
    "told before a job",
    "told while catching up",
}

#: What must have occurred in some of 100,000 histories, too.
RARELY = {
    "ContentionError of a rebuild",
    "caught up, and rebuilt by others since",
}


def play(seed: int, flaws: frozenset[str] = frozenset(), sometimes: set[str] | None = None) -> World:
    """Plays one history, lets all requests arrive, catches up, and checks that nothing is missing."""
    world = World(seed, flaws, sometimes)
    # The limits are small, so that they are reached.
    kept, tries = world.random.choice((1, 2, 64)), world.random.choice((2, 4, 30))
    with mock.patch.multiple(protocol, KEPT_COMMITS=kept, TRIES=tries):
        world.start(jobs.create(world))
        world.start(jobs.create(world))
        world.run()
        crash_rate, world.crash_rate = world.crash_rate, 0
        while not world.states:
            world.start(jobs.create(world))
            world.run()
        world.crash_rate, world.is_created = crash_rate, True
        if world.chance(0.3):
            _writers(world)
        else:
            _jobs(world)
    return world


def _jobs(world: World) -> None:
    draw = world.random.randrange
    for _ in range(draw(2, 5)):
        jobs.start_job(world, world.random.getrandbits(KEYS) & world.random.getrandbits(KEYS))
    for process in (jobs.settle, jobs.merger, jobs.merger, jobs.sweeper, jobs.sweeper, jobs.reader):
        if world.chance(0.8):
            world.start(process(world))
    if world.chance(0.5):
        world.start(jobs.roll_back(world))
    world.run()
    world.fault_rate = world.stale_rate = world.crash_rate = 0
    for left in (len(world.late) // 2, 0):
        while len(world.late) > left:
            world.deliver()
        world.start(jobs.settle(world))
        world.run()
        state = world.states[-1]
        assert state.note == jobs.note_of(world.table.head)
        assert world.known == world.table.total, "a committed key is not known"
    _clean(world)


def _writers(world: World) -> None:
    world.plain = (1 << 4 * KEYS) - 1
    for number in range(world.random.randrange(3, 12)):
        world.start(jobs.writer(world, 1 << number))
    for process in (jobs.merger, jobs.merger, jobs.sweeper, jobs.sweeper, jobs.reader):
        if world.chance(0.8):
            world.start(process(world))
    world.run()
    world.fault_rate = world.stale_rate = world.crash_rate = 0
    while world.late:
        world.deliver()
    assert int(world.states[-1].note or 0) == len(world.counted & world.applied), "a note is applied twice"
    _clean(world)


def _clean(world: World) -> None:
    """Checks that sweeps leave nothing but what the manifest names."""
    world.has_clocks, world.older_than = True, 0
    world.clock += 10_000
    for _ in range(2):
        world.start(jobs.sweeper(world))
        world.run()
    assert set(world.objects) == {each.id for each in world.states[-1].objects}
    assert not world.states[-1].dropped


def test_no_history_breaks_a_law() -> None:
    """Plays all histories. Each fault, each crash and each rare turn must have occurred in some of them."""
    sometimes: set[str] = set()
    for seed in range(HISTORIES):
        try:
            play(seed, sometimes=sometimes)
        except BaseException as error:
            error.add_note(f"This is the history with seed {seed}.")
            raise
    expected = (SOMETIMES if HISTORIES >= 5000 else set()) | (RARELY if HISTORIES >= 100_000 else set())
    assert not expected - sometimes, f"never occurred: {expected - sometimes}"
    assert not sometimes - SOMETIMES - RARELY, f"not in the lists: {sometimes - SOMETIMES - RARELY}"


@pytest.mark.parametrize(("flaw", "law"), FLAWS.items())
def test_broken_protocols_are_found(flaw: str, law: str) -> None:
    """Each deviation from the protocol breaks its law in one of a few thousand histories."""
    broken = set()
    for seed in range(4000):
        try:
            play(seed, frozenset((flaw,)))
        except AssertionError as error:
            broken.add(str(error).split("\n", 1)[0])
            if law in broken:
                return
    pytest.fail(f"{flaw}: found only {broken}")


def played(steps: Any, *answers: Any) -> Any:
    """Runs a generator with these results of its requests but pauses. Returns the next request, or what it returns.

    A result that is an exception is thrown.
    """
    try:
        effect = next(steps)
        for answer in answers:
            effect = steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)
            while isinstance(effect, effects.Pause):
                effect = next(steps)
    except StopIteration as stop:
        return stop.value
    return effect


BASE = effects.State(b"set", 7, 3, 1, (named(b"1"), named(b"2"), named(b"3")), ((b"0", 5),), "a", (b"x",))


def test_a_set_that_was_created_anew_is_told() -> None:
    steps = protocol.commit(b"id", BASE, None, protocol.Expect("b"))
    with pytest.raises(effects.ReplacedError):
        played(steps, (replace(BASE, store=b"new"), "tag"))
    steps = protocol.commit(b"id", BASE, None, protocol.Expect("b"))
    with pytest.raises(effects.Missing):
        played(steps, effects.Missing())


def test_a_commit_without_objects_changes_the_note() -> None:
    base = replace(BASE, commits=tuple(bytes([id]) for id in range(64)))
    state = played(protocol.commit(b"id", base, None, protocol.Expect("b", after="a")), (base, "tag"), True)
    assert state == replace(base, generation=8, note="b", commits=(*base.commits[1:], b"id"))


def test_who_won_is_read_and_old_answers_are_not() -> None:
    """After an error, a cache answers with a state in which the set had another note yet: that is no conflict."""
    steps = protocol.commit(b"id", BASE, None, protocol.Expect("b", after="a"))
    old = replace(BASE, generation=6, note="z", commits=())
    assert played(steps, (BASE, "tag"), False, (old, "old tag")) == effects.Read()
    later = replace(BASE, generation=9, note="c", commits=(b"id", b"y"))
    with pytest.raises(StopIteration) as end:
        steps.send((later, "later tag"))
    assert end.value.value == later
    steps = protocol.commit(b"id", BASE, None, protocol.Expect("b", after="a"))
    with pytest.raises(ConflictError, match="'c'"):
        played(steps, (BASE, "tag"), False, (replace(later, commits=(b"y",)), "later tag"))
    steps = protocol.commit(b"id", BASE, None, protocol.Expect("b"))
    with pytest.raises(effects.UncertainError):
        played(steps, (BASE, "tag"), False, (replace(later, generation=7 + 65, commits=()), "later tag"))


def test_attempts_have_an_end() -> None:
    answers = [answer for _ in range(protocol.TRIES + 1) for answer in ((BASE, "tag"), False)]
    with pytest.raises(effects.ContentionError):
        played(protocol.commit(b"id", BASE, None, protocol.Expect("b")), *answers)
    with pytest.raises(effects.ContentionError):
        played(protocol.create(b"set", 1), *([False, effects.Missing()] * protocol.TRIES))


def test_a_merge_records_when_it_dropped_what() -> None:
    steps = protocol.merge(b"id", BASE, BASE.objects[:2], "parts", 99)
    state = played(steps, (BASE, "tag"), (named(b"4"),), True)
    assert state.objects == (named(b"3"), named(b"4")) and state.note == "a"
    assert state.dropped == ((b"0", 5), (b"1", 99), (b"2", 99))


def test_a_sweep_deletes_only_what_is_old_and_unnamed() -> None:
    base = replace(BASE, objects=(named(b"1"),), dropped=((b"2", 10), (b"3", 41)))
    listed = [(bytes([name]), 1000 if name != ord("5") else 60) for name in b"12345"]
    delete = played(protocol.sweep(b"id", base, 60, 101), listed, (base, "tag"), True)
    assert delete == effects.Delete((b"2", b"4"))


def test_a_note_is_compared_with_the_target() -> None:
    """Snapshots 1 to 9 follow each other; 5' follows 4."""

    def is_ancestor(earlier: str, later: str) -> bool:
        return earlier == later or ("'" not in earlier and earlier[0] < later[0])

    rule = protocol.CatchUp("3", "5", is_ancestor)
    assert rule("3") == rule("4") == protocol.Become("5")
    assert rule("5") is rule("6") is None
    for found in (None, "2", "5'"):
        with pytest.raises(protocol.Restart):
            rule(found)
