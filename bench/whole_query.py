"""What a whole query takes on nodes, beside one exchange of two lists.

    python3 bench/whole_query.py FURUI descriptions.txt NODES DOCUMENTS QUERIES

Starts `furui demo` with NODES nodes, publishes the first DOCUMENTS descriptions, and searches for QUERIES pairs of
words over HTTP, each with every coding. The bytes of a query are those that the answer states. The exchanges are its
steps `met by`, each with the bits of the two messages.
"""
import json
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

CODINGS = [{"coding": coding} for coding in ("best", "golomb", "ringed", "fixed", "naive")]
CODINGS.insert(3, {"coding": "ringed", "rate": "0.0078125"})


def words(text):
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def main():
    furui, texts, nodes, documents, queries = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    with open(texts, encoding="utf-8") as file:
        docs = [next(file).strip() for _ in range(documents)]
    demo = subprocess.Popen([furui, "demo", "--no-open", "--port", "0", "--nodes", str(nodes)], stdout=subprocess.PIPE, text=True)
    try:
        url = None
        while url is None:
            found = re.search(r"http://[0-9.:]+", demo.stdout.readline())
            url = found and found[0]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            for i, text in enumerate(docs):
                file.write(json.dumps({"url": f"https://example.org/{i}", "title": text[:40], "text": text}) + "\n")
            file.flush()
            subprocess.run([furui, "publish", "--node", url, file.name], check=True, stdout=subprocess.DEVNULL)
        lists = {}
        for text in docs:
            for word in words(text):
                lists[word] = lists.get(word, 0) + 1
        # Words of lists that are worth coding, drawn by how many documents have them.
        common = sorted(word for word, count in lists.items() if count >= documents // 100)
        chance = random.Random(1)
        pairs = [chance.sample(common, 2, counts=[lists[word] for word in common]) for _ in range(queries * 2)]
        pairs = [pair for pair in pairs if pair[0] != pair[1]][:queries]
        print(f"{nodes} nodes, {documents} documents, {len(pairs)} queries of two words of {documents // 100} documents or more")
        for coding in CODINGS:
            measure(url, coding, pairs)
    finally:
        demo.terminate()
        demo.wait()


def measure(url, coding, pairs):
    whole, results, exchanges, of_exchanges = 0, 0, 0, 0
    for i, pair in enumerate(pairs):
        query = urllib.parse.urlencode({"q": " ".join(pair), "limit": 10, "explain": "true", **coding})
        with urllib.request.urlopen(f"{url}/search?{query}", timeout=120) as answer:
            lines = [json.loads(line) for line in answer]
        steps = [line for line in lines if "step" in line]
        if i == 0:
            print(f"/search?{query}", *map(json.dumps, steps), json.dumps(lines[-1]), sep="\n")
        whole += 8 * lines[-1]["bytes"]
        results += sum("url" in line for line in lines)
        for step in steps:
            for there, back in re.findall(r"met by .* (\d+) bits there and (\d+) back", step["step"]):
                exchanges += 1
                of_exchanges += int(there) + int(back)
    n = len(pairs)
    one = of_exchanges / exchanges / 1000 if exchanges else 0
    print(f"{' '.join(coding.values())}: {whole / n / 1000:.1f} kbit a query; {exchanges / n:.2f} exchanges over the network a query, "
          f"{one:.2f} kbit each, {of_exchanges / n / 1000:.2f} in all; {results / n:.2f} results", flush=True)


main()
