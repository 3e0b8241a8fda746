"""Writers of a set in a bucket and of one in a directory that are killed at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import furui
import furui.cloud as cloud
import pytest
from conftest import Service

#: The number of writers that are killed; soak kills more.
KILLS = int(os.environ.get("FURUI_KILLS", "6"))

#: Commits 500 keys after 500 keys, and says so after each. Its last argument says where it begins.
WRITER = """
import json, sys
import furui, furui.cloud
place, options, first = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
for start in range(first, first + 100_000, 500):
    run = furui.cloud.Run(place, **options) if options else furui.Run(place)
    with run:
        run.add_many([f"key {number}" for number in range(start, start + 500)])
        run.commit(note=str(start))
    print(start, flush=True)
"""


@pytest.mark.parametrize("where", ["directory", "bucket"])
def test_a_killed_writer_leaves_whole_commits(
    where: str, service: Service, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    place, options = str(tmp_path / "set"), dict[str, Any]()
    if where == "bucket":
        place, options = service.new(request), service.options
        cloud.create(place, shards=2, **options)
    at_work = 0
    for kill in range(KILLS):
        first = kill * 100_000
        arguments = [sys.executable, "-c", WRITER, place, json.dumps(options), str(first)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        writer = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment)
        assert writer.stdout is not None
        # It is killed in the commit after the last line that is read, at any moment of it.
        for _ in range(chance.randrange(1, 6)):
            told = int(writer.stdout.readline())
        for _ in range(chance.randrange(800_000 if options else 200_000)):
            pass
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split()
        assert writer.wait() == -signal.SIGKILL
        told = int(rest[-1]) if rest else told
        seen = cloud.open(place, **options) if options else furui.Seen(place, read_only=True)
        known = list(seen.has_many([f"key {number}" for number in range(first, told + 1500)]))
        count = sum(known)
        # All that was told is there, and the commit in which the writer died is there or not, but whole, with its note.
        assert count in (told + 500 - first, told + 1000 - first) and all(known[:count])
        assert seen.note == str(first + count - 500)
        at_work += count > told + 500 - first
    print("commits that were made and not told:", at_work)
    if options:
        cloud.sweep(place, older_than=-1, **options)
        assert cloud.merge(place, all=True, **options)
        assert len(cloud.open(place, **options)) > 0
