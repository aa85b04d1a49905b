"""Every kind of input that is wrong: one sentence within a second, the right exit code, and nothing lost or left behind.

usage: inputs_test.py GPUSYNC

A line of the table is a command line, its exit code, and a word that the sentence must have. In arguments, {folder} is a
folder with a document good.json, {new} a file in it that is not there.
"""

import copy
import gzip
import itertools
import json
import os
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from tool import ToolTest, run

RUN = ["run", "barrier-cost", "-d", "host", "--quick"]
METRIC = {"value": 1.0, "unit": "us", "n": 7, "q1": 0.9, "median": 1.0, "q3": 1.1, "stddev": 0.1, "samples": None,
          "stop": "spread", "interval": None}
ROW = {"experiment": "barrier-cost", "items": ["F1"], "device": "host", "axes": {"blocks": 2}, "method": "graph",
       "kind": "graph", "ordered": True, "rival": True, "metrics": {"step_time": METRIC}, "verified": True,
       "verification": None, "clock_mhz": None, "status": "ok", "reason": None}
DOCUMENT = {"schema": "gpusync-results/2", "context": {"complete": True}, "rows": [ROW]}


def commands():
    words = ["frobnicate", "raport", "RUN", "runs", "-", "run ", "list,", "ｒｕｎ", "a\nb", "\x1b[31mred", "x" * 3000]
    for word in words:
        yield [word], 2, ""
    for word, meant in [("raport", "report"), ("lisst", "list"), ("devcies", "devices"), ("compar", "compare"),
                        ("docter", "doctor"), ("coverge", "coverage"), ("manul", "manual"), ("tun", "tune"), ("advice", "advise")]:
        yield [word], 2, f"Did you mean {meant}?"
        yield ["--quiet", word], 2, f"Did you mean {meant}?"
    yield [], 2, "command is required"
    yield ["--quiet"], 2, "command is required"
    for command in ("devices", "list", "run", "report", "compare", "advise", "tune", "doctor", "coverage", "completions", "manual"):
        yield [command, "--nonsense"], 2, "--nonsense"
        yield [command, "--quiet", "--verbose"], 2, ""
    for command, option, meant in [("run", "--quik", "--quick"), ("run", "--jsn", "--json"), ("report", "--refitt", "--refit"),
                                   ("devices", "--jsonn", "--json"), ("run", "--devices", "--device")]:
        yield [command, option], 2, f"Did you mean {meant}?"
    for command in ("devices", "doctor", "coverage", "manual"):
        yield [command, "extra"], 2, "extra"
    yield ["list", "nothing-like-it"], 2, "nothing-like-it"
    yield ["completions"], 2, "shell"
    for shell in ("tcsh", "", "bash zsh"):
        yield ["completions", shell], 2, "bash, zsh, fish"


def experiments():
    yield ["run"], 2, "experiment"
    for word in ("no-such", "barrier", "barrier-cost,stencil", "", " ", "../barrier-cost", "barrier-cost\n", "*"):
        yield ["run", word], 2, "barrier-cost"
    for word, meant in [("stensil", "stencil"), ("barier-cost", "barrier-cost"), ("Stencil", "stencil"),
                        ("rmw_cost", "rmw-cost"), ("bitonicsort", "bitonic-sort")]:
        yield ["run", word], 2, f"Did you mean {meant}?"
        yield ["run", "barrier-cost", word], 2, word
    for name in ("grid-barriers", "late-arrival", "message-floor", "split-phase", "barrier-stress", "store-atomicity",
                 "rmw-faults", "opencl-barriers", "opencl-iterations", "opencl-memory", "launch-overhead", "grid-sync",
                 "warp-timers", "partial-sync"):
        yield ["run", name, "-d", "host"], 2, "does not run on host devices"


def devices():
    for word in ("abacus", "", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0x0", "cuda:1234567", "opencl", "host:0", "HOST",
                 "cuda:0,cuda:1", "cuda:0 ", "a\nb", "all"):
        yield ["run", "barrier-cost", "-d", word], 2, "cuda:N"
    for word in ("cuda:77", "opencl:77", "cuda:99999"):
        yield ["run", "barrier-cost", "-d", word], 3, word
        yield ["tune", "-d", word], 3, word
    for word in ("host", "abacus", "opencl:x"):
        yield ["tune", "-d", word], 2, ""


def axes():
    numbers = ["", "x", "0", "-1", "65536", "1.5", "1e3", "0x10", "1,,2", ",1", "1,", "1:", ":1", "1:2:", "1:2:0", "1:2:-1",
               "1:2:x", "1:2:3:4", "9:1", "2^", "2^-1", "2^63", "2^99999999999999999999", "2^x", "2^4:2^2", "^2", "2**4",
               "99999999999999999999", " 1", "1 ", "1;2", "1-4", "½", "1\n2", "inf", "nan", "true"]
    for text in numbers:
        yield [*RUN, "-a", f"blocks={text}"], 2, "blocks"
    for text in ("2", "-1", "yes", "0:2", ""):
        yield [*RUN, "-a", f"stores={text}"], 2, "stores"
    for text in ("prayer", "", "lock-based", "no-barrier,", ",no-barrier", "no-barrier,prayer", "NO-BARRIER", "x" * 500):
        yield [*RUN, "-a", f"method={text}"], 2, "method"
    for text in ("blocks", "=", "=1", "", "blocks 1", "--", "blocks:1"):
        yield [*RUN, "-a", text], 2, ""
    for text in ("colour=3", "block=3", "Blocks=3", "shape=1x1", "phases=1"):
        yield [*RUN, "-a", text], 2, "the axes are blocks, threads, stores, method"
    yield [*RUN, "-a"], 2, ""
    for text in ("1", "x", "1x", "x1", "0x1", "1x0", "1x1x1", "1*1", "-1x1", "1x-1", "99999999999x1", "1x99999999999", "1 x 1",
                 "1X1", "1.5x2", ""):
        yield ["run", "stencil", "-d", "host", "-a", f"shape={text}"], 2, "shape"
    for text in ("0", "4", "x"):
        yield ["run", "stencil", "-d", "host", "-a", f"dimensions={text}"], 2, "dimensions"
    for text in ("7", "8193", "x"):
        yield ["run", "stencil", "-d", "host", "-a", f"elements={text}"], 2, "elements"


def outputs():
    for option in ("--json", "--csv", "--md"):
        for path in ("", "/nonexistent/x", "{folder}", "{folder}/", "{folder}/good.json/x", "/proc/x", "/dev/x/y"):
            yield [*RUN, option, path], 2, ""
    for first, second in itertools.combinations(("--json", "--csv", "--md"), 2):
        yield [*RUN, first, "-", second, "-"], 2, "standard output"
        yield [*RUN, first, "-", second, "/dev/stdout"], 2, "standard output"
        yield [*RUN, first, "{new}", second, "{new}"], 2, "same file"
        yield [*RUN, first, "{new}", second, "{folder}/./new"], 2, "same file"
        yield [*RUN, first, "{new}", second, "{folder}/no/x"], 2, "no"
    yield ["report", "{folder}/good.json"], 2, "output"
    yield ["report", "-o", "{new}"], 2, "results"
    for path in ("", "/nonexistent/x.html", "{folder}", "{folder}/good.json", "{folder}/./good.json"):
        yield ["report", "{folder}/good.json", "-o", path], 2, ""
    yield ["report", "{folder}/good.json", "{folder}/good.json", "-o", "{new}"], 2, "twice"
    for path in ("/nonexistent/t", "{folder}"):
        yield ["tune", "-d", "host", "-o", path], 2, ""


def comparisons():
    yield ["compare"], 2, "documents"
    yield ["compare", "{folder}/good.json"], 2, "documents"
    yield ["compare", *["{folder}/good.json"] * 3], 2, "pairs"
    yield ["compare", "{folder}/good.json", "{folder}/absent.json"], 2, "absent.json"
    yield ["compare", "{folder}", "{folder}/good.json"], 2, ""
    for option in ("--least", "--confidence"):
        for value in ("", "x", "-1", "1e9", "100", "nan", "5%"):
            if (option, value) != ("--least", "100"):
                yield ["compare", "{folder}/good.json", "{folder}/good.json", option, value], 2, ""


def texts_that_are_no_documents():
    whole = json.dumps(DOCUMENT)
    yield from ("", " ", "\n", "{", "}", "[", "[]", "{}", "null", "0", '"x"', "true", "\x00", "\ufeff" + whole[:9], whole + "}",
                whole[: len(whole) // 2], whole[:-1], whole.replace(":", "=", 1), "<html>", "[" * 100000, '{"a":' * 70 + "1" + "}" * 70,
                '{"schema": 1}', '{"schema": null}', '{"schema": "gpusync-results/99", "rows": []}', '{"schema": "other", "rows": []}',
                '{"benchmarks": []}', "\xff\xfe", whole.replace("1.0", "1e999999", 1) + ",")


def documents_with_a_wrong_value():
    def at(path, value):
        document = copy.deepcopy(DOCUMENT)
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return document

    row, metric = ["rows", 0], ["rows", 0, "metrics", "step_time"]
    for path, values in [
            (["rows"], [None, 1, "x", {}]), (["rows", 0], [1, "x", []]), (["context"], [1, "x", []]),
            ([*row, "experiment"], [None, 1]), ([*row, "items"], [1, [1]]), ([*row, "device"], [None, 1]),
            ([*row, "axes"], [1, []]), ([*row, "axes", "blocks"], [None, 1.5, [], True, 2**64]),
            ([*row, "method"], [None, 1]), ([*row, "kind"], [1, "magic"]), ([*row, "ordered"], [1, "x"]),
            ([*row, "metrics"], [1, []]), ([*row, "verified"], [1, "x"]), ([*row, "status"], [None, 1, "fine"]),
            ([*row, "reason"], [1]), (metric, [None, 1]), ([*metric, "value"], ["x", True, []]), ([*metric, "unit"], [None, 1]),
            ([*metric, "n"], ["x", -1, 1.5]), ([*metric, "q1"], ["x"]), ([*metric, "samples"], [1, ["x"], {}]),
            ([*metric, "interval"], [1, [1], [1, 2, 3], ["x", 1]]), ([*metric, "run_steps"], [1, [1], [-1, 2], "x"]),
            ([*metric, "stop"], [1])]:
        for value in values:
            yield path, at(path, value)


class Inputs(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.good = self.save("good.json", json.dumps(DOCUMENT))

    def save(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return path

    def check(self, cases):
        """Runs (arguments, exit code, word) two at a time; names all that went wrong."""
        names = {"folder": self.folder.name, "new": os.path.join(self.folder.name, "new")}

        def fault_of(case):
            arguments, code, word = case
            arguments = [each.replace("{folder}", names["folder"]).replace("{new}", names["new"]) for each in arguments]
            for _ in range(3):  # on a machine that does much else any program may take a second
                begin = time.monotonic()
                outcome = run(*arguments)
                seconds = time.monotonic() - begin
                if seconds < 1:
                    break
            lines = outcome.err.splitlines()
            fault = (f"exit code {outcome.code}" if outcome.code != code
                     else f"{len(lines)} lines" if len(lines) != 1
                     else f"no '{word}'" if word not in outcome.err
                     else "something on stdout" if outcome.out
                     else "control characters" if any(ord(each) < 32 for each in lines[0])
                     else f"{seconds:.1f} s" if seconds >= 1 else "")
            return fault and f"{arguments}: {fault}: {outcome.err[:300]}{outcome.out[:100]}"

        cases = list(cases)
        with ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(fault_of, cases) if fault]
        self.assertEqual(faults, [], f"{len(faults)} of {len(cases)}\n" + "\n".join(faults))
        self.assertEqual([name for name in os.listdir(self.folder.name) if not name.endswith(".json")], [])
        with open(self.good, encoding="utf-8") as file:
            self.assertEqual(file.read(), json.dumps(DOCUMENT))
        return len(cases)

    def test_each_of_the_table(self):
        table = [*commands(), *experiments(), *devices(), *axes(), *outputs(), *comparisons()]
        self.assertGreaterEqual(self.check(table), 250)

    def test_files_that_are_no_documents(self):
        paths = [self.save(f"no{i}.json", text) for i, text in enumerate(texts_that_are_no_documents())]
        cases = []
        for path in [*paths, self.folder.name, os.path.join(self.folder.name, "absent.json")]:
            cases.append((["report", path, "-o", "{new}"], 2, os.path.basename(path)))
            cases.append((["compare", path, self.good], 2, os.path.basename(path)))
        self.check(cases)

    def test_compressed_documents(self):
        """They are read as they are, of several members too; what is no whole gzip data, or no document, is refused."""
        name = os.path.join(self.folder.name, "small.gz.json")
        with open(self.good, "rb") as document:
            text = document.read()
        whole = gzip.compress(text)
        for compressed in (whole, gzip.compress(text[:70]) + gzip.compress(b"") + gzip.compress(text[70:])):
            with open(name, "wb") as file:
                file.write(compressed)
            outcome = run("compare", self.good, name)
            self.assertEqual((outcome.code, outcome.err), (0, ""))
        wrong = {"cut": (whole[:-9], "cut off"), "damaged": (whole[:20] + b"\xff\xff\xff" + whole[23:], "damaged"),
                 "other": (gzip.compress(b"no document"), "not JSON"),
                 "empty": (gzip.compress(b""), "empty"), "more": (whole + b"more", "something else"),
                 "byte": (whole + b"\x1f", "something else")}
        cases = []
        for kind, (text, word) in wrong.items():
            path = os.path.join(self.folder.name, f"{kind}.gz.json")
            with open(path, "wb") as file:
                file.write(text)
            cases.append((["report", path, "-o", "{new}"], 2, word))
        self.check(cases)

    def test_documents_with_a_wrong_value(self):
        cases = []
        for i, (path, document) in enumerate(documents_with_a_wrong_value()):
            where = str(path[-1]) if isinstance(path[-1], str) else "rows"
            name = self.save(f"wrong{i}.json", json.dumps(document))
            cases.append((["report", name, "-o", "{new}"], 2, where))
        self.check(cases)


if __name__ == "__main__":
    unittest.main()
