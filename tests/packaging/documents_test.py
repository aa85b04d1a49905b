#!/usr/bin/env python3
"""Checks what README.md and the documents say against the files that they name.

usage: documents_test.py ROOT

- Every relative link leads to a file, and every anchor to a heading.
- The figures of README.md's table are those of the result document that it names.
- No heading stands twice in a file: links would lead to the first.
- No recorded run has put the graphs of its process into their slow state: gpusync does not judge such rows.
"""

import glob
import gzip
import json
import os
import re
import sys

# README.md's names, and the methods of the result document.
METHODS = {
    "gpusync::grid_barrier (placed counters)": "placed-counters-acquire-release",
    "replicated counters (4)": "replicated-4-acquire-release",
    "lock-based, acquire-release": "lock-based-acquire-release",
    "cluster-first, 4 blocks a cluster": "cluster-first-4",
    "cg::grid_group::sync()": "cg",
    "lock-based, fences as in 2010": "lock-based-fence",
    "sense-reversing": "sense-reversing-acquire-release",
    "tree of 2 levels": "tree-2-acquire-release",
    "lock-free (flag array)": "lock-free-acquire-release",
    "dissemination": "dissemination-acquire-release",
    "CUDA graph of kernels": "graph",
    "CUDA graph, programmatic dependent launch": "graph-pdl",
    "the same, the next let in behind the wait": "graph-pdl-late",
}
SHAPE = "132x256"


def text_of(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def without_code(text):
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def anchors_of(text):
    """The anchors that the headings of a document get, as GitHub makes them."""
    anchors = []
    for heading in re.findall(r"(?m)^#+ (.*)$", without_code(text)):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchors.append(re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-"))
    return anchors


def wrong_links(root, name):
    text = text_of(root, name)
    for heading in {one for one in anchors_of(text) if anchors_of(text).count(one) > 1}:
        yield f"{name}: the heading {heading!r} stands twice"
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+://", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if not os.path.exists(os.path.join(root, file)):
            yield f"{name}: {target} does not exist"
        elif anchor and anchor not in anchors_of(text_of(root, file)):
            yield f"{name}: {file} has no heading #{anchor}"


def wrong_figures(root):
    text = text_of(root, "README.md")
    table = re.search(r"(?s)<!-- figures -->(.*?)<!-- /figures -->", text)
    document = re.search(r"from \[`([^`]*\.json)`\]", text)
    if not table or not document:
        return ["README.md: there is no table of figures, or it does not say which document it is from"]
    rows = {(row["method"], row["axes"]["stores"]): row for row in json.loads(text_of(root, document.group(1)))["rows"]
            if row["axes"]["shape"] == SHAPE}
    wrong, seen = [], 0
    for line in table.group(1).splitlines():
        cells = [cell.strip().replace("`", "").replace("*", "") for cell in line.split("|")[1:-1]]
        if len(cells) != 4 or cells[0] == "way to wait" or set(cells[0]) <= set("-"):
            continue
        if cells[0] not in METHODS:
            wrong.append(f"README.md: {cells[0]!r} is no method that this test knows")
            continue
        seen += 1
        for stores in (0, 1):
            row = rows[METHODS[cells[0]], stores]
            value = f"{row['metrics']['step_time']['value']:.2f}"
            if cells[1 + stores] != value:
                wrong.append(f"README.md: {cells[0]} is {cells[1 + stores]}, in {document.group(1)} {value}")
            if (cells[3] == "right") != (row["verified"] is True):
                wrong.append(f"README.md: the results of {cells[0]} are not {cells[3]}")
    if seen != len(METHODS):
        wrong.append(f"README.md: the table has {seen} methods of {len(METHODS)}")
    return wrong


def slowed_graphs(root):
    for name in sorted(glob.glob(os.path.join("results", "**", "*.json*"), root_dir=root, recursive=True)):
        with (gzip.open if name.endswith(".gz") else open)(os.path.join(root, name), "rt", encoding="utf-8") as file:
            document = json.load(file)
        for device in document.get("context", {}).get("devices", []):
            before, after = (device.get(f"state_{when}", {}).get("graph_step_us") for when in ("before", "after"))
            if before and after and abs(after / before - 1) > 0.01:
                yield f"{name}: a graph's idle step took {before:.3g} us before the run and {after:.3g} behind it"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    root = sys.argv[1]
    names = [os.path.relpath(os.path.join(folder, file), root)
             for top in ("docs", "verify", "tests", "results", "examples")
             for folder, _, files in os.walk(os.path.join(root, top)) for file in files if file.endswith(".md")]
    failures = [*wrong_figures(root), *slowed_graphs(root)]
    for name in ["README.md", "CONTRIBUTING.md", *sorted(names)]:
        failures += wrong_links(root, name)
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{2 + len(names)} documents: " + ("links and figures are right" if not failures else "see above"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
