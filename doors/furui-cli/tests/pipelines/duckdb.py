# Prints, for each case on standard input, the numbers of the first row of each key.
import json
import sys

import duckdb

answers = []
for case in json.load(sys.stdin):
    if case["kind"] == "csv":
        names = ", ".join("'" + name.replace("'", "''") + "': 'VARCHAR'" for name in case["names"])
        # Each file is read alone, since files may have different line breaks.
        tables = [
            f"FROM read_csv('{file}', header = true, columns = {{{names}}}, delim = ',', quote = '\"', escape = '\"',"
            " auto_detect = false, max_line_size = 1000000)"
            for file in case["files"]
        ]
        # An empty field is NULL, in quotes or not, and NULLs are one group.
        keys = ['"' + key.replace('"', '""') + '"' for key in case["keys"]]
        where = "true"
    else:
        tables = [
            f"FROM read_json('{file}', format = 'newline_delimited', columns = {{id: 'BIGINT', p: 'JSON', k: 'JSON'}})"
            for file in case["files"]
        ]
        paths = {"/p/q": "p->'$.q'", "/k": "k"}
        values = [paths[key] for key in case["keys"]]
        # The type tells "1" from 1.
        keys = [part for value in values for part in (f"json_type({value})", f"{value}->>'$'")]
        where = " AND ".join(f"({value}) IS NOT NULL" for value in values)
    rows = " UNION ALL ".join(f"({table})" for table in tables)
    query = f"SELECT min(id::BIGINT) AS first FROM ({rows}) WHERE {where} GROUP BY {', '.join(keys)} ORDER BY first"
    answers.append([row[0] for row in duckdb.sql(query).fetchall()])
print(json.dumps(answers))
