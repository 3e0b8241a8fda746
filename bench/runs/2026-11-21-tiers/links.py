"""Crawls a tree of HTML pages on disk breadth-first and writes every link, in the order a crawler would meet it.

usage: links.py DIRECTORY > links.txt        (here: Debian's rust-doc 1.63, unpacked)
"""

import collections
import os
import re
import sys
from urllib.parse import urldefrag, urljoin

root = sys.argv[1].rstrip("/")
pages = {
    "file:///" + os.path.relpath(os.path.join(directory, name), root): os.path.join(directory, name)
    for directory, _, names in os.walk(root)
    for name in names
    if name.endswith(".html")
}
start = min((page for page in pages if page.endswith("/html/index.html")), key=len)
seen, queue = {start}, collections.deque([start])
while queue:
    page = queue.popleft()
    with open(pages[page], encoding="utf8", errors="replace") as file:
        text = file.read()
    for link in re.findall(r'href="([^"]*)"', text):
        try:
            url = urldefrag(urljoin(page, link))[0]
        except ValueError:
            continue
        print(url)
        if url in pages and url not in seen:
            seen.add(url)
            queue.append(url)
