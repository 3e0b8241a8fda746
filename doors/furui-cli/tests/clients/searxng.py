"""Searches by SearXNG's own engine, set up as docs/search.md says, and prints pages of results as JSON."""

import json
import logging
import sys

import httpx
import yaml
from searx.engines import load_engine

logging.disable(logging.CRITICAL)
settings, queries = yaml.safe_load(sys.argv[1]), json.loads(sys.argv[2])
engine = load_engine(settings["engines"][0])
assert engine.__file__.endswith("json_engine.py") and engine.paging and engine.enable_http

pages = []
for query, pageno in queries:
    params = {"language": "all", "safesearch": 0, "pageno": pageno, "headers": {}, "cookies": {}}
    params = engine.request(query, params)
    answer = httpx.request(params["method"], params["url"], headers=params["headers"])
    answer.ok = answer.is_success
    pages.append(engine.response(answer))
print(json.dumps(pages))
