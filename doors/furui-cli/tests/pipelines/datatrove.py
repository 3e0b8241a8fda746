# Reads the index of a store by datatrove's reader, removes the documents of a list that it has by datatrove's steps, and builds
# datatrove's index of the list. The files are in the directory that is the argument.
import sys
from pathlib import Path

import xxhash
from datatrove.data import Document
from datatrove.io import get_datafolder
from datatrove.pipeline.dedup.exact_dedup import (
    ExactDedupBuildIndex,
    ExactDedupConfig,
    ExactDedupFilter,
    ExactDedupSignature,
    ExactFindDedups,
    read_sigs,
)

work = Path(sys.argv[1])


def lines(name):
    return (work / name).read_text(encoding="utf-8").split("\n")[:-1]


def write(name, items):
    (work / name).write_bytes("".join(f"{item}\n" for item in items).encode())


def content(document) -> str:
    return document.text


def documents():
    return [Document(text=text, id=str(number)) for number, text in enumerate(lines("asked"))]


# Its hash is XXH64 with seed 0.
config = ExactDedupConfig(content_getter=content)
index = get_datafolder(str(work / "index"))
with index.open("furui.c4_index", "rb") as file:
    write("read", [signature.hash_value for signature in read_sigs(file, 0, config.hash_config, index_file=True)])
write("hashed", sorted({xxhash.xxh64_intdigest(line) for line in lines("known")}))

signatures = str(work / "signatures")
ExactDedupSignature(signatures, config).run(documents())
for only_dedup_in_index, name in [(True, "not-in-index"), (False, "new")]:
    config.only_dedup_in_index = only_dedup_in_index
    found = str(work / f"found-{name}")
    ExactFindDedups(signatures, found, config, index_folder=str(work / "index")).run()
    write(name, [document.text for document in ExactDedupFilter(found, config).run(documents())])
ExactDedupBuildIndex(signatures, str(work / "built"), "asked", config).run()
