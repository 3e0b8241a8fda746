"""The protocol of a set in a bucket, simulated: whatever fails, no row is lost, and no commit is applied twice.

FURUI_HISTORIES is the number of histories. A history is a seed: ``play(seed)`` repeats it.
"""

import os
from unittest import mock

import protocol_jobs as jobs
import pytest
from furui import _protocol as protocol
from protocol_world import KEYS, World

HISTORIES = int(os.environ.get("FURUI_HISTORIES", "5000"))


def play(seed: int, flaws: frozenset[str] = frozenset(), sometimes: set[str] | None = None) -> World:
    """Plays one history, lets all requests arrive, catches up, and checks that nothing is missing."""
    world = World(seed, flaws, sometimes)
    # The limits are small, so that they are reached.
    kept, tries = world.random.choice((1, 2, 64)), world.random.choice((4, 30))
    with mock.patch.multiple(protocol, KEPT_COMMITS=kept, TRIES=tries):
        world.start(jobs.create(world))
        world.start(jobs.create(world))
        world.run()
        crash_rate, world.crash_rate = world.crash_rate, 0
        while not world.states:
            world.start(jobs.create(world))
            world.run()
        world.crash_rate, world.is_created = crash_rate, True
        if world.chance(0.25):
            _writers(world)
        else:
            _jobs(world)
    return world


def _jobs(world: World) -> None:
    draw = world.random.randrange
    for _ in range(draw(2, 5)):
        jobs.start_job(world, world.random.getrandbits(KEYS) & world.random.getrandbits(KEYS))
    for process in (jobs.settle, jobs.merger, jobs.merger, jobs.sweeper, jobs.sweeper, jobs.reader):
        if world.chance(0.7):
            world.start(process(world))
    if world.chance(0.5):
        world.start(jobs.roll_back(world))
    world.run()
    world.fault_rate = world.crash_rate = 0
    for left in (len(world.late) // 2, 0):
        while len(world.late) > left:
            world.deliver()
        world.start(jobs.settle(world))
        world.run()
        state = world.states[-1]
        assert state.note == jobs.note_of(world.head)
        assert world.known == world.snapshots[world.head].total, "a committed key is not known"
    _clean(world)


def _writers(world: World) -> None:
    world.plain = (1 << 4 * KEYS) - 1
    for number in range(world.random.randrange(2, 10)):
        world.start(jobs.writer(world, 1 << number))
    for process in (jobs.merger, jobs.merger, jobs.sweeper, jobs.sweeper, jobs.reader):
        if world.chance(0.7):
            world.start(process(world))
    world.run()
    world.fault_rate = world.crash_rate = 0
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


def search(flaws: frozenset[str], histories: int) -> tuple[int, dict[str, int]]:
    """Plays histories with flaws. Returns how many broke a law, and how often each message came."""
    broken: dict[str, int] = {}
    for seed in range(histories):
        try:
            play(seed, flaws)
        except AssertionError as error:
            message = str(error).split("\n", 1)[0]
            broken[message] = broken.get(message, 0) + 1
    return sum(broken.values()), broken


def test_no_history_breaks_a_law() -> None:
    sometimes: set[str] = set()
    for seed in range(HISTORIES):
        try:
            play(seed, sometimes=sometimes)
        except BaseException as error:
            error.add_note(f"the history with seed {seed}")
            raise
    print(sorted(sometimes))
