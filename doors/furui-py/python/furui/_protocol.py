"""How a set in a bucket changes: commits, merges and sweeps, as generators that make no request themselves.

A set in a bucket is immutable objects and one manifest, which names them. A commit puts objects, and then replaces the
manifest under the condition that nobody else has replaced it. Three rules make this safe:

- *Who won is read, not believed.* An error says nothing about whether the manifest was replaced: clients repeat a
  request whose answer was lost, and then report a lost race against themselves. So after every error the manifest is
  read, and the own id among its last commits says who won.
- *Names are used once.* An object that is put again has another name, so a request to put or to delete that arrives
  late, or twice, does not touch anything that matters.
- *An object is added only in the epoch in which it was put.* See ``sweep``.

Time decides only how long readers of replaced manifests find their objects. Writers need no clock, and no two clocks
need agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from ._protocol_effects import (
    KEPT_COMMITS,
    ContentionError,
    Delete,
    List,
    Missing,
    Object,
    Pause,
    Put,
    Read,
    ReplacedError,
    State,
    Steps,
    Swap,
    UncertainError,
)
from .errors import ConflictError

__all__ = [
    "ANY",
    "KEEP",
    "TRIES",
    "Become",
    "CatchUp",
    "Expect",
    "IsAncestor",
    "Restart",
    "Rule",
    "commit",
    "create",
    "merge",
    "sweep",
]

#: The number of attempts to replace the manifest, after which a commit fails.
TRIES: Final = 30

#: Returns True if the snapshot of the second note has that of the first one in its past, or is the same.
#: A note that the source cannot place is not in the past of any other.
IsAncestor: TypeAlias = Callable[[str, str], bool]


class _Wild(Enum):
    ANY = "any note"
    KEEP = "the note that is there"


#: For Expect: the set may have any note, or none.
ANY: Final = _Wild.ANY
#: For Expect: the note is not changed.
KEEP: Final = _Wild.KEEP


@dataclass(frozen=True, slots=True)
class Become:
    """The verdict of a rule that the commit may be made, and the note that the set has then."""

    note: str | None


#: Decides what a commit does if the set has this note: go on, or, for None, nothing, because others have done it all.
#: A rule may raise an exception, which ends the commit: nothing is added then.
Rule: TypeAlias = Callable[[str | None], Become | None]


class Restart(Exception):
    """The note is one that this work did not begin from, and does not contain: it must be done again from there."""


@dataclass(frozen=True, slots=True)
class Expect:
    """The rule of a commit that names the new note itself.

    after: the note that the set must have; None: it must have none. With another, ConflictError is raised.
    """

    note: str | None | Literal[_Wild.KEEP] = KEEP
    after: str | None | Literal[_Wild.ANY] = ANY

    def __call__(self, found: str | None) -> Become:
        if self.after is not ANY and found != self.after:
            raise ConflictError(f"the set has the note {found!r}, not {self.after!r}: another commit came first")
        return Become(found if self.note is KEEP else self.note)


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The rule of a commit that adds what was appended to a source from the note ``began`` to the note ``target``.

    It goes on only if the note of the set is one of these or between them, so that nothing is left out and the note
    never moves back.
    """

    began: str | None
    target: str
    is_ancestor: IsAncestor

    def __call__(self, found: str | None) -> Become | None:
        if contains(self.target, found, self.is_ancestor):
            return None
        if contains(self.began, found, self.is_ancestor) and contains(found, self.target, self.is_ancestor):
            return Become(self.target)
        raise Restart(f"the set has the note {found!r}, which is not between {self.began!r} and {self.target!r}")


def contains(earlier: str | None, later: str | None, is_ancestor: IsAncestor) -> bool:
    """Returns True if the second note stands for all rows for which the first one does."""
    return earlier is None or (later is not None and is_ancestor(earlier, later))


def create(store: bytes, shards: int) -> Steps[State]:
    """Creates a set, unless there is one, and returns the one that is there: all creators get the same.

    store: a random id of 16 bytes.
    """
    for attempt in range(TRIES):
        if attempt:
            yield Pause(attempt)
        yield Swap(State(store, 0, 0, shards, (), (), None, ()), None)
        try:
            found: State
            found, _ = yield Read()
        except Missing:
            continue
        return found
    raise ContentionError(f"{TRIES} attempts to create a set have failed")


def commit(id: bytes, base: State, parts: Any, rule: Rule) -> Steps[State]:
    """Adds objects to the set and changes its note, in one step and at most once. Returns that state, or a later one.

    The later one may be that of a set that others have built anew since: its note says which rows it has.

    id: a random id of 16 bytes, of this commit alone.
    base: the state that was read before the parts were made.
    parts: what Put is given; None: nothing is put, and only the note changes.

    Raises: ReplacedError, and what the rule raises: nothing was added. ContentionError, UncertainError: nobody knows.
    """

    def change(state: State) -> State | None:
        become = rule(state.note)
        return None if become is None else replace(state, note=become.note)

    return (yield from _replace(id, base, change, parts))


def merge(
    id: bytes, base: State, chosen: Iterable[Object], parts: Any, now: int, rule: Rule = Expect()
) -> Steps[State | None]:
    """Replaces objects by others. Returns None if one of them is no longer in the set: others have replaced it.

    The parts have the keys of all chosen objects. With all objects of the base as the chosen ones, and a rule that
    expects the note of the base, the set is built anew, and the note may be any.

    now: the time at which the merge begins, in seconds since 1970. Objects are kept for readers from then on.
    """
    replaced = {each.id for each in chosen}

    def change(state: State) -> State | None:
        if not replaced <= {each.id for each in state.objects}:
            raise _Lost
        become = rule(state.note)
        if become is None:
            return None
        kept = tuple(each for each in state.objects if each.id not in replaced)
        dropped = state.dropped + tuple((each, now) for each in sorted(replaced))
        return replace(state, note=become.note, objects=kept, dropped=dropped)

    try:
        return (yield from _replace(id, base, change, parts))
    except _Lost:
        return None


def sweep(id: bytes, base: State, older_than: int, now: int) -> Steps[State]:
    """Deletes objects older than ``older_than`` seconds that no commit has added, or that were replaced so long ago.

    It lists the objects, commits a manifest with a new epoch, and deletes nothing but what it listed before and this
    manifest does not name. So it deletes nothing that a later manifest names either. For suppose that a later commit
    adds an object that was listed. That commit replaces a manifest of the new epoch or of a later one, and adds only
    what was put after it had read a manifest of this epoch. So the object was put after the sweep's commit, and that
    came after the listing. But a name is used for one put only, so the object cannot have been listed.

    A writer whose object is deleted before it is committed finds another epoch, and puts it again under another name.
    Orphans that are young are kept only to save writers this work: a wrong clock never makes a sweep delete an object
    of the set. A sweep that ends before it has deleted all leaves the rest for the next one.
    """
    listed: Sequence[tuple[bytes, int]] = yield List()

    def change(state: State) -> State:
        young = tuple((name, time) for name, time in state.dropped if now - time <= older_than)
        return replace(state, epoch=state.epoch + 1, dropped=young)

    state = yield from _replace(id, base, change)
    named = {each.id for each in state.objects} | {name for name, _ in state.dropped}
    doomed = tuple(name for name, age in listed if age > older_than and name not in named)
    if doomed:
        yield Delete(doomed)
    return state


class _Lost(Exception):
    """An object that a merge replaces is no longer in the set."""


def _replace(id: bytes, base: State, change: Callable[[State], State | None], parts: Any = None) -> Steps[State]:
    """Replaces the manifest by what ``change`` makes of it, once, with the objects of the parts, if there are any.

    Returns the state that this commit wrote, or a later one; or the state for which ``change`` has returned None.

    A request whose answer was lost may still be on its way. Its condition is the tag of the state that it replaces, so
    it is decided as soon as a later state is read: then the own id is in that state, or never will be. States that are
    older than one that was read before are answers of a cache, and are not looked at.
    """
    objects: tuple[Object, ...] = ()
    epoch: int | None = None
    newest = base.generation
    sent: int | None = None
    for attempt in range(TRIES + 1):
        if attempt:
            yield Pause(attempt)
        state: State
        state, tag = yield Read()
        if state.store != base.store:
            raise ReplacedError("the set was deleted, and another one was created in its place: begin again")
        if state.generation < newest:
            continue
        newest = state.generation
        if id in state.commits:
            return state
        if sent is not None and state.generation - sent > KEPT_COMMITS:
            raise UncertainError("many others have committed meanwhile: it is unknown whether this commit was made")
        wanted = change(state)
        if wanted is None:
            return state
        if attempt == TRIES:
            break
        if epoch != state.epoch:
            if parts is not None:
                objects = yield Put(parts)
            epoch = state.epoch
        following = replace(
            wanted,
            generation=state.generation + 1,
            objects=wanted.objects + objects,
            commits=(*state.commits, id)[-KEPT_COMMITS:],
        )
        sent = state.generation
        won: bool = yield Swap(following, tag)
        if won:
            return following
    raise ContentionError(f"{TRIES} attempts to commit have failed, because others commit, or requests fail")
