"""Ends a wait when a signal asks the process to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Stopped", "stoppable"]


class Stopped(BaseException):
    """A signal has asked the process to stop. The handler that was in place has run."""


@contextmanager
def stoppable() -> Iterator[None]:
    """While the block runs, SIGINT and SIGTERM raise Stopped in it, after the handlers in place have run.

    A handler of an event loop only notes the signal for the loop, which does not run as long as its thread waits.
    Signals that nobody handles end the process, as ever. In other threads than the main one, there are no signals.
    """
    handlers: dict[int, Any] = {}
    is_inside = True

    def stop(number: int, frame: FrameType | None) -> None:
        handlers[number](number, frame)
        if is_inside:
            raise Stopped

    try:
        if threading.current_thread() is threading.main_thread():
            for known in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(known)
                if callable(handler):
                    handlers[known] = handler
                    signal.signal(known, stop)
        yield
    finally:
        is_inside = False
        for number, handler in handlers.items():
            # The handler may have put another one in its place.
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)
