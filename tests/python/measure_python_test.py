"""scripts/measure-python without any front end: what it writes is a result document that says what was skipped and why, and
what it does not understand it says in a sentence."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*arguments):
    # Without the packages of this machine, whatever they are.
    return subprocess.run([sys.executable, "-S", "-B", str(ROOT / "scripts/measure-python"), *arguments],
                          capture_output=True, text=True)


def wrong_sentences(folder):
    for words, arguments in (("needs a folder with the wheel", ["x"]), ("there is no part cuda", ["x", folder, "cuda"]),
                             ("holds 0 wheels", [folder, folder])):
        process = run(*arguments)
        if process.returncode != 2 or process.stdout or words not in process.stderr or process.stderr.count("\n") != 1:
            yield f"{arguments}: exit {process.returncode}, {process.stdout!r}, {process.stderr!r}"


def wrong_document(folder):
    process = run(str(ROOT / "python"), folder)
    if process.returncode != 0:
        yield f"exit {process.returncode}: {process.stdout}{process.stderr}"
        return
    with open(os.path.join(folder, "python.json"), encoding="utf-8") as file:
        document = json.load(file)
    rows = document["rows"]
    kinds = {row["experiment"] for row in rows}
    if kinds != {"python-front-ends", "python-first-kernel", "python-misuse"} or len(rows) < 20:
        yield f"{len(rows)} rows of {kinds}"
    yield from (f"{row['axes']}: {row['status']}, {row['reason']}" for row in rows
                if row["status"] != "skipped" or "is not installed" not in row["reason"])
    try:
        import jsonschema
    except ImportError:
        print("there is no jsonschema: the document is not compared with its schema")
        return
    schema = json.loads((ROOT / "src/results/results.schema.json").read_text(encoding="utf-8"))
    yield from (f"{error.json_path}: {error.message}" for error in
                jsonschema.Draft7Validator(schema).iter_errors(document))


def main():
    with tempfile.TemporaryDirectory() as folder:
        failures = [*wrong_sentences(folder), *wrong_document(folder)]
    for failure in failures:
        print(f"FAILED: {failure}")
    print("sentences and document are right" if not failures else "see above")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
