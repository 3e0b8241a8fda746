"""Runs RedisBloom's own tests of BF.* and CF.* against the module, from a checkout that the user has:

    git clone https://github.com/RedisBloom/RedisBloom && pip install RLTest 'redis<7'
    FURUI_MODULE=target/release/libfurui_valkey.so python redisbloom.py --suite RedisBloom/tests/flow

Nothing of that suite is part of furui. Each test runs in a server of its own, because a failed assertion of one test is
reported again, or lost, in those that come after it. Later versions of redis-py send a command again after 5 seconds,
which a slow machine takes for the largest filters of the suite. EXPECTED names the tests that fail, and why they do.
"""

import argparse
import ast
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = ["test_overall.py", "test_cuckoo.py"]

LAYOUT = "loads bytes of RedisBloom, or damages its layout: furui has bytes of its own"
SIZES = "expects sizes in bytes of RedisBloom's structs"
DEBUG = "reads BF.DEBUG or CF.DEBUG, which print the inside of RedisBloom"
NEWER = "restores a dump of a newer server, which Redis 7.0 refuses by itself"

EXPECTED: dict[str, str] = {
    "test_overall:testRedisBloom.test_insert": DEBUG,
    "test_overall:testRedisBloom.test_debug": DEBUG,
    "test_overall:testRedisBloom.test_expansion": "counts the false positives of RedisBloom's smallest filters: 23, not 25, filters",
    "test_overall:testRedisBloom.test_info": SIZES,
    "test_overall:testRedisBloom.test_info_size": SIZES,
    "test_overall:testRedisBloom.test_nonscaling_err": SIZES,
    "test_overall:testRedisBloom.test_issue178": SIZES,
    "test_overall:testRedisBloomNoCodec.test_arbitrary_offset": LAYOUT,
    "test_overall:testRedisBloomNoCodec.test_load_error_handling": NEWER,
    "test_overall:testRedisBloomNoCodec.test_rdb_load_guards": NEWER,
    "test_cuckoo:testCuckoo.test_number_of_buckets_does_not_overflow": LAYOUT,
    "test_cuckoo:testCuckoo.test_insert": DEBUG,
    "test_cuckoo:testCuckoo.test_max_iterations": DEBUG,
    "test_cuckoo:testCuckoo.test_num_deletes": DEBUG,
    "test_cuckoo:testCuckoo.test_compact": DEBUG,
    "test_cuckoo:testCuckoo.test_bucket_size": DEBUG,
    "test_cuckoo:testCuckoo.test_expansion": DEBUG,
    "test_cuckoo:testCuckoo.test_info": SIZES,
    "test_cuckoo:testCuckoo.test_max_expansions": "expects a refusal after 32 expansions: furui's filter grows on",
    "test_cuckoo:testCuckooNoCodec.test_rdb_load_zero_numfilters": NEWER,
}


def tests_of(file: Path) -> list[str]:
    """The tests of a file, as RLTest names them."""
    names = []
    for item in ast.parse(file.read_text()).body:
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test"):
            names.append(f"{file.stem}:{item.name}")
        if isinstance(item, ast.ClassDef):
            names += [f"{file.stem}:{item.name}.{test.name}" for test in item.body
                      if isinstance(test, ast.FunctionDef) and test.name.startswith("test")]
    return list(dict.fromkeys(names))


def run(suite: Path, name: str, module: str, directory: Path) -> tuple[str, str]:
    """Runs a test in a server of its own: passed, failed or skipped, and what it printed."""
    file, test = name.split(":")
    command = [sys.executable, "-m", "RLTest", "--module", module, "--module-args", "BF CF", "--enable-debug-command",
               "--no-progress", "--clear-logs", "--log-dir", str(directory / "logs"),
               "--oss-redis-path", os.environ.get("REDIS_SERVER", "redis-server"),
               "-t", f"{suite / file}.py:{test}"]
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=600)
    text = done.stdout + done.stderr
    if "[SKIP]" in text and "[FAIL]" not in text:
        return "skipped", text
    return ("passed" if done.returncode == 0 and "[PASS]" in text else "failed"), text


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs RedisBloom's own tests against the module.")
    parser.add_argument("--suite", type=Path, default=os.environ.get("REDISBLOOM_TESTS"))
    parser.add_argument("--only", default="", help="run the tests whose names contain this")
    parser.add_argument("--verbose", action="store_true", help="print what failed tests print")
    arguments = parser.parse_args()
    if arguments.suite is None or not (arguments.suite / FILES[0]).is_file():
        parser.error(f"--suite is the folder tests/flow of a checkout of RedisBloom, with {FILES[0]}")
    if importlib.util.find_spec("RLTest") is None:
        parser.error("RLTest is missing: pip install RLTest 'redis<7'")
    module = str(Path(os.environ["FURUI_MODULE"]).resolve())
    suite = arguments.suite.resolve()
    found: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}
    surprises = 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        # The suite asks a library of its authors for the name of the system.
        (directory / "paella.py").write_text("class Platform:\n    osnick = os = arch = ''\n")
        for file in FILES:
            for name in tests_of(suite / file):
                if arguments.only not in name:
                    continue
                outcome, text = run(suite, name, module, directory)
                found[outcome].append(name)
                reason = EXPECTED.get(name, "")
                if outcome == "failed" and not reason:
                    surprises += 1
                    reason = "UNEXPECTED"
                print(f"{outcome:8}{name}{'  ' + reason if outcome == 'failed' else ''}", flush=True)
                if arguments.verbose and outcome == "failed":
                    print(text)
    print(", ".join(f"{len(names)} {outcome}" for outcome, names in found.items()))
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
