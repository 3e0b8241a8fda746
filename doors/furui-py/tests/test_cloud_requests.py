"""What a set in a bucket asks of its service, and what happens if requests are lost, late, or come twice."""

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import furui
import furui.cloud as cloud
import pytest
from bad_proxy import BadProxy, Fate
from conftest import Service
from furui._bucket import Bucket
from tables import keys

#: The number of seeds that are tried; soak tries more.
SEEDS = int(os.environ.get("FURUI_SEEDS", "6"))
TICK = timedelta(milliseconds=1)


@pytest.fixture
def proxy(service: Service) -> Iterator[BadProxy]:
    with BadProxy(int(service.endpoint.rpartition(":")[2])) as proxy:
        yield proxy


def through(proxy: BadProxy, service: Service) -> dict[str, Any]:
    """The options of a client that goes through the proxy and is quick to give up."""
    return {
        **service.options,
        "endpoint": proxy.endpoint,
        "retry_config": {"max_retries": 2, "backoff": {"init_backoff": TICK, "max_backoff": 10 * TICK, "base": 2.0}},
        "client_options": {"allow_http": True, "timeout": "20s"},
    }


def test_a_commit_takes_few_requests(url: str, service: Service, proxy: BadProxy, tmp_path: Path) -> None:
    options = through(proxy, service)
    with cloud.Run(url, cache=tmp_path, **options) as run:
        run.add_many(keys(0, 50_000))
        before = proxy.requests.copy()
        run.commit("a")
        of_commit = proxy.requests - before
    assert of_commit == Counter({("PUT", "pack"): 1, ("GET", "MANIFEST"): 1, ("PUT", "MANIFEST"): 1})
    assert proxy.put <= 7 * 50_000 + 4096
    # A reader fetches the table and the runs of a pack, and then keeps them.
    for first in [True, False]:
        proxy.requests.clear()
        proxy.got = 0
        with cloud.Run(url, cache=tmp_path, **options) as run:
            assert not any(run.add_many(keys(0, 50_000)))
        assert proxy.requests == Counter({("GET", "MANIFEST"): 1, **({("GET", "pack"): 2} if first else {})})
        assert proxy.got <= (7 * 50_000 + 4096 if first else 4096)


def test_nothing_is_lost_whatever_happens_to_requests(
    url: str, service: Service, proxy: BadProxy, tmp_path: Path
) -> None:
    met: Counter[str] = Counter()
    for seed in range(SEEDS):
        print("seed", seed)
        chance = random.Random(seed)

        def choose(method: str, path: str, chance: random.Random = chance) -> Fate:
            fates: list[Fate] = ["pass", "pass", "pass", "lost", "answer lost", "late", "twice"]
            fate = chance.choice(fates)
            met[f"{method} {fate}"] += 1
            return fate

        proxy.choose = choose
        options = through(proxy, service)
        committed: set[str] = set()
        refused: set[str] = set()

        def work(number: int) -> None:
            """Three commits of one writer; what is refused may be there or not, but whole."""
            for turn in range(3):
                mine = keys(number * 1000 + turn * 300, number * 1000 + turn * 300 + 350)
                try:
                    with cloud.Run(url, **options) as run:
                        run.add_many(mine)
                        run.commit()
                    committed.update(mine)
                except furui.Error:
                    refused.update(mine)

        first = seed * 4
        threads = [threading.Thread(target=work, args=(first + number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        try:
            cloud.merge(url, **options)
            cloud.sweep(url, older_than=-1, **options)
        except furui.Error:
            met["maintenance refused"] += 1
        proxy.choose = lambda method, path: "pass"
        seen = cloud.open(url, **service.options)
        assert committed and all(seen.has_many(sorted(committed)))
        assert not any(seen.has_many(sorted(set(keys(first * 1000, (first + 4) * 1000)) - committed - refused)))
    for name in ["PUT lost", "PUT answer lost", "PUT late", "PUT twice", "GET lost", "GET answer lost"]:
        assert met[name], f"{name} was never met"


def test_who_won_is_read(url: str, service: Service, proxy: BadProxy) -> None:
    """The client repeats a request whose answer was lost, and is then told that it has lost against itself."""
    lose = iter(["answer lost"])

    def choose(method: str, path: str) -> Fate:
        return "answer lost" if method == "PUT" and path.endswith("/MANIFEST") and next(lose, None) else "pass"

    proxy.choose = choose
    with cloud.Run(url, **through(proxy, service)) as run:
        run.add_many(keys(0, 10))
        run.commit("mine", after=None)
    seen = cloud.open(url, **service.options)
    assert seen.note == "mine" and len(seen) == 10
    assert Bucket(url, **service.options).read()[0].generation == 1


def test_an_old_manifest_is_named(url: str, service: Service, proxy: BadProxy, tmp_path: Path) -> None:
    def read() -> tuple[bytes, str]:
        bucket = Bucket(url, **service.options)
        _, tag = bucket.read()
        return bucket.manifest, tag

    options = through(proxy, service)
    old = read()
    with cloud.Run(url, cache=tmp_path, **options) as run:
        run.add_many(keys(0, 10))
        run.commit()
    # A machine that knows a newer one says so, and the next answer is right.
    assert len(cloud.open(url, cache=tmp_path, **options)) == 10
    openers: list[Callable[..., furui.Seen | cloud.Run]] = [cloud.open, cloud.Run]
    for opener in openers:
        proxy.old = old
        with pytest.raises(furui.Error, match="MANIFEST: generation 0 came, and .* has known 1"):
            opener(url, cache=tmp_path, **options)
        assert "key 1" in opener(url, cache=tmp_path, **options)
    # A commit that is given one asks again.
    with cloud.Run(url, cache=tmp_path, **options) as run:
        run.add_many(keys(5, 20))
        proxy.old = old
        run.commit()
    assert all(cloud.open(url, **options).has_many(keys(0, 20)))
    # Another machine cannot know. It then records late, which is harmless: nothing is lost.
    proxy.old = old
    with cloud.Run(url, **options) as run:
        assert all(run.add_many(keys(0, 30)))
        run.commit()
    assert all(cloud.open(url, **options).has_many(keys(0, 30)))
