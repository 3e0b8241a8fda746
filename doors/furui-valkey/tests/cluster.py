"""A real cluster of three masters, each with a replica, in directories of their own, on loopback."""

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import redis
from server import Server


def until(is_so: Callable[[], Any], what: str, seconds: float = 60) -> None:
    """Waits for something of which nothing tells, so it is asked again and again."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"after {seconds} s still not: {what}"
        time.sleep(0.01)


def cluster_port() -> int:
    """A port that is free, as is the one 10,000 above it, on which the nodes talk to each other.

    Both are below those that the system gives to clients.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 22_000)
        try:
            with socket.socket() as one, socket.socket() as other:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10_000))
                return port
        except OSError:
            continue


class Cluster:
    """Six nodes. A node that is killed has the same port when it is started again."""

    def __init__(self, directory: Path) -> None:
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"]
        # A replica takes over however long it was cut off.
        options += ["--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "5"]
        self.nodes: list[Server] = []
        try:
            for number in range(6):
                port = cache(cluster_port)
                self.nodes.append(Server(directory / f"node-{number}", *options, port=port))
            addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
            self.tool("create", *addresses, "--cluster-replicas", "1", "--cluster-yes")
            self.until_whole()
        except BaseException:
            self.stop()
            raise

    def tool(self, *arguments: str) -> None:
        """Runs redis-cli --cluster to its end."""
        with self.running(*arguments):
            pass

    @contextmanager
    def running(self, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Runs redis-cli --cluster while the block runs, and then to its end, which must be good."""
        program = os.environ.get("REDIS_CLI") or shutil.which("redis-cli") or "valkey-cli"
        log = self.nodes[0].directory / "tool.log"
        with log.open("wb") as out:
            command = [program, "--cluster", *arguments]
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            yield process
            assert process.wait(120) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def resharding(self, slots: int) -> Iterator["subprocess.Popen[bytes]"]:
        """Moves slots from a master to another one while the block runs, and to the end."""
        source, target = self.masters()[:2]
        ids = [node("CLUSTER", "MYID").decode() for node in (source, target)]
        what = ["--cluster-from", ids[0], "--cluster-to", ids[1], "--cluster-slots", str(slots), "--cluster-yes"]
        with self.running("reshard", f"127.0.0.1:{source.port}", *what) as process:
            yield process
        self.until_whole()

    def masters(self) -> list[Server]:
        """Those that have slots, the one with the most of them first."""
        slots: dict[int, int] = {}
        for first, last, (_, port, *_), *_ in self.living()[0]("CLUSTER", "SLOTS"):
            slots[port] = slots.get(port, 0) + last - first + 1
        return sorted((node for node in self.nodes if node.port in slots), key=lambda node: -slots[node.port])

    def living(self) -> list[Server]:
        return [node for node in self.nodes if node.process and node.process.poll() is None]

    def replica_of(self, master: Server) -> Server:
        return next(node for node in self.living() if node("ROLE")[0] == b"slave" and node("ROLE")[2] == master.port)

    def is_whole(self) -> bool:
        try:
            states = [node.client.cluster("INFO") for node in self.living()]
            roles = [node("ROLE") for node in self.living()]
        except redis.exceptions.RedisError:
            return False
        masters = [role for role in roles if role[0] == b"master"]
        return (
            all(state["cluster_state"] == "ok" and state["cluster_slots_ok"] == "16384" for state in states)
            and len(masters) == 3
            and all(len(role[2]) == 1 for role in masters)
            and all(role[3] == b"connected" for role in roles if role[0] == b"slave")
        )

    def until_whole(self) -> None:
        until(self.is_whole, "three masters with a replica each")

    def client(self, kind: Any = redis.RedisCluster) -> Any:
        return kind(host="127.0.0.1", port=self.living()[0].port, socket_timeout=10)

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()
