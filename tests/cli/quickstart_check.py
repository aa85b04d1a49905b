#!/usr/bin/env python3
"""Looks at what scripts/quickstart has left.

usage: quickstart_check.py OUTPUT RESULTS SCHEMA

OUTPUT: what it has printed. RESULTS: the folder of its results. SCHEMA: that of result documents.
"""

import json
import os
import re
import sys

import jsonschema


def main():
    output, results, schema = sys.argv[1:]
    with open(output, encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    answer = lines[-1]
    assert re.fullmatch(r"\S.*[^.]\.", answer), f"the last line is one sentence: {answer!r}"
    assert not re.search(r"[a-z]\. [A-Z]", answer), f"and no more than one: {answer!r}"
    assert sum(line.count("|") > 3 or "  " in line.strip() for line in lines) > 3, "there is a table above it"

    report = os.path.join(results, "report.html")
    assert any(report in line for line in lines), "it says where the report is"
    with open(report, encoding="utf-8") as file:
        page = file.read()
    assert page.lower().startswith("<!doctype html>") and page.rstrip().endswith("</html>"), "the report is a whole page"

    with open(os.path.join(results, "results.json"), encoding="utf-8") as file:
        document = json.load(file)
    with open(schema, encoding="utf-8") as file:
        jsonschema.validate(document, json.load(file))
    rows = document["rows"]
    assert rows, "something was measured"
    assert any(row.get("verified") for row in rows), "and checked"
    print(f"{len(rows)} rows, {answer}")


try:
    main()
except (AssertionError, OSError, ValueError, jsonschema.ValidationError) as reason:
    sys.exit(f"The quickstart: {reason}")
