"""Sends commands to a server or the nodes of a cluster, and records which of them may have run without an answer.

The clients of redis-py and valkey-py send a pipeline again by themselves when a connection breaks, and return only the
second answer. But the first answer, which was lost, may have been that a key is new. So this module sends the commands
by itself, over the connections of the client, and with the client's map of the cluster.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import time
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

from .errors import ConfigError

__all__ = ["Command", "Nodes"]

_log = logging.getLogger("furui.valkey")
#: The time in seconds after which it is logged again that a server does not answer.
_TELL_AGAIN = 30.0

#: The maximum number of redirections in a row. Then commands are sent again after pauses, as after an error.
_REDIRECTIONS = 16


class Command:
    """A command for one key of the server, and its answer or the error with which the server refused it."""

    __slots__ = ("answer", "asked", "is_done", "is_open", "is_uncertain", "key", "refusal", "words")

    def __init__(self, name: str, key: str, *words: Any) -> None:
        self.key = key
        self.words = (name, key, *words)
        self.answer: Any = None
        #: The error with which the server refused the command, so that it was not run; None if the server did not.
        self.refusal: Exception | None = None
        #: True if there is an answer or a refusal.
        self.is_done = False
        #: True if the command was sent, and its answer has not been read.
        self.is_open = False
        #: True if a connection broke after the command was sent: it may have run once more than its answer says.
        self.is_uncertain = False
        #: The node to which the server has redirected the command, and True if only this once; None without a redirect.
        self.asked: tuple[Any, bool] | None = None


class Nodes:
    """The connections to a server, or to the nodes of a cluster.

    client: an object of redis.Redis or redis.RedisCluster, or of the classes of valkey-py that correspond to them.
    """

    def __init__(self, client: Any) -> None:
        library, name = _library(client)
        self.client = client
        self.library = library
        #: The module of the exceptions of the client's library.
        self.errors: ModuleType = importlib.import_module(f"{library}.exceptions")
        self.is_cluster = name.endswith("Cluster")
        self._cluster_error: type[Exception] = getattr(self.errors, f"{library.capitalize()}ClusterException")
        #: The exceptions after which a command is sent again: there is no answer, or it says that nothing was run.
        self._trouble = (
            OSError,
            self._cluster_error,
            self.errors.ConnectionError,
            self.errors.TimeoutError,
            self.errors.ClusterDownError,
            self.errors.ReadOnlyError,
            self.errors.TryAgainError,
        )
        #: True if the client's map of the cluster is outdated, so that it must be read again.
        self._is_outdated = False
        #: Since when commands have no answer, and when this was logged; None if they have.
        self._away: tuple[float, float] | None = None
        self._hopeless = (self.errors.AuthenticationError, self.errors.AuthorizationError)

    def run(self, commands: Iterable[Command], patience: float) -> None:
        """Runs commands, in one round trip to each node, until each has an answer or a refusal.

        After an error that may pass, such as one of a failover, commands are sent again for up to ``patience`` seconds.
        A warning tells so: not of a connection that was just outdated, but when commands fail again, and every 30 s.

        Raises: the last of these errors. Some of the commands have no answer then.
        """
        commands = list(commands)
        start, pause, redirections = time.monotonic(), 0.02, 0
        while commands:
            trouble = self._round(commands)
            commands = [command for command in commands if not command.is_done]
            if not commands:
                self._tell_back()
                return
            redirections += 1
            if trouble is not None or redirections > _REDIRECTIONS:
                error = trouble or self.errors.ClusterError("the cluster sends the command around")
                now = time.monotonic()
                left = start + patience - now
                if redirections > 1 or pause > left or now > start + 1:
                    self._tell_away(error, start, left)
                if left < 0:
                    raise error
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
            if trouble is not None or self._is_outdated:
                self._look_around()

    def _tell_away(self, error: Exception, start: float, left: float) -> None:
        """Logs that there is no answer since ``start``, and that there are ``left`` more seconds for one."""
        now = time.monotonic()
        since, told = self._away or (start, None)
        if told is None or now - told >= _TELL_AGAIN:
            until = f"it is asked for {left:.0f} s more" if left > 0 else "the call fails"
            _log.warning("The server does not answer since %.0f s: %s (%s)", now - since, until, error)
            told = now
        self._away = since, told

    def _tell_back(self) -> None:
        if self._away is not None:
            _log.info("The server answers again, after %.0f s", time.monotonic() - self._away[0])
            self._away = None

    def _round(self, commands: list[Command]) -> Exception | None:
        """Sends all commands, and then reads all answers. Returns an error that may pass, or None if there was none."""
        trouble: Exception | None = None
        routes: dict[Any, list[tuple[Command, bool]]] = {}
        for command in commands:
            try:
                pool, only_once = self._route(command)
            except self._cluster_error as error:
                trouble = trouble or error
                continue
            routes.setdefault(pool, []).append((command, only_once))
        taken: list[tuple[Any, Any, list[tuple[Command, bool]]]] = []
        waiting: list[tuple[Any, list[tuple[Command, bool]]]] = []
        try:
            for pool, share in routes.items():
                try:
                    connection = _connection(pool)
                    taken.append((pool, connection, share))
                    words = [words for command, once in share for words in ([("ASKING",)] * once + [command.words])]
                    packed = connection.pack_commands(words)
                    for command, _ in share:
                        command.is_open = True
                    connection.send_packed_command(packed)
                    waiting.append((connection, share))
                except self._hopeless:
                    raise
                except self._trouble as error:
                    trouble = trouble or error
            for connection, share in waiting:
                trouble = self._read(connection, share) or trouble
        finally:
            for pool, connection, share in taken:
                lost = [command for command, _ in share if command.is_open]
                for command in lost:
                    command.is_open, command.is_uncertain = False, True
                if lost:
                    # An answer that was not read must not be taken for that of a later command.
                    connection.disconnect()
                pool.release(connection)
        return trouble

    def _route(self, command: Command) -> tuple[Any, bool]:
        """The pool of connections to the node that has the key, and True if the command needs ``ASKING`` before it."""
        if not self.is_cluster:
            return self.client.connection_pool, False
        node, only_once = command.asked or (None, False)
        command.asked = None
        if node is None:
            node = self.client.get_node_from_key(command.key)
        return getattr(self.client, f"get_{self.library}_connection")(node).connection_pool, only_once

    def _read(self, connection: Any, share: list[tuple[Command, bool]]) -> Exception | None:
        """Reads the answers of a node to its commands. Returns an error that may pass, or None if there was none."""
        trouble: Exception | None = None
        for command, only_once in share:
            try:
                if only_once:
                    connection.read_response(disable_decoding=True)
                command.answer = connection.read_response(disable_decoding=True)
                command.is_done = True
            except self.errors.AskError as error:
                # A MovedError is one, too.
                self._redirect(command, error)
            except self._hopeless:
                raise
            except (self.errors.ClusterDownError, self.errors.ReadOnlyError, self.errors.TryAgainError) as error:
                trouble = error
            except self._trouble as error:
                return error
            except self.errors.ResponseError as error:
                command.refusal = error
                command.is_done = True
            command.is_open = False
        if isinstance(trouble, self.errors.ReadOnlyError):
            # A master has become a replica. A client of Sentinel looks for the new one when it connects again.
            connection.disconnect()
        return trouble

    def _redirect(self, command: Command, error: Any) -> None:
        if not self.is_cluster:
            command.refusal, command.is_done = error, True
            return
        has_moved = isinstance(error, self.errors.MovedError)
        host, port = self.client.nodes_manager.remap_host_port(error.host, error.port)
        node = self.client.get_node(host=host, port=port)
        if node is not None:
            command.asked = node, not has_moved
        self._is_outdated |= has_moved or node is None

    def _look_around(self) -> None:
        """Makes the client read again which node of the cluster has which hash slots."""
        if self.is_cluster:
            try:
                self.client.nodes_manager.initialize()
                self._is_outdated = False
            except self._trouble:
                # There is another round, in which this is found again.
                pass


def _connection(pool: Any) -> Any:
    kind: Any = type(pool)
    return pool.get_connection("SEEN.ADD") if _wants_name(kind) else pool.get_connection()


@cache
def _wants_name(pool: Any) -> bool:
    """True if the pool's ``get_connection`` needs the name of a command, as in older versions of redis-py."""
    name = inspect.signature(pool.get_connection).parameters.get("command_name")
    return name is not None and name.default is inspect.Parameter.empty


def _library(client: Any) -> tuple[str, str]:
    """The name of the library of a client, ``redis`` or ``valkey``, and the name of the client's class in it."""
    for base in type(client).__mro__:
        library, *parts = base.__module__.split(".")
        if library in ("redis", "valkey"):
            if "asyncio" in parts:
                raise ConfigError("the client is one of asyncio: give a redis.Redis or a redis.RedisCluster")
            if base.__name__ in ("Redis", "RedisCluster", "Valkey", "ValkeyCluster"):
                return library, base.__name__
    raise ConfigError(f"a client of redis-py or valkey-py is needed, not {type(client).__name__}")
