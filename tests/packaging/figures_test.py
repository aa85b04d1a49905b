"""scripts/figures finds what it must find: on a project of one document and one record.

usage: figures_test.py ROOT
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]

PAGE = """# A page

The barrier takes 0.70 us, and at most 1024 threads; `cg` 1.02 us.

| method | idle |
|---|---|
| `ours` | **0.70** |
| `cg` | 1.02 |
"""
MAPPING = """
times = record("gpu/times", "step_time")
says("The barrier takes {} us", times("ours", stores=0))
says("`cg` {} us", times("cg", stores=0))
table("| method | idle |", lambda row, column: times(row[0], stores=0) if column == "idle" else None)
"""


def row(method, value, **other):
    return {"method": method, "device": "cuda:0", "axes": {"stores": 0}, "status": "ok", "verified": True,
            "metrics": {"step_time": {"value": value}}, **other}


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("scripts", "docs/figures", "results/gpu"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/figures", self.root / "scripts/figures")
        self.write("README.md", "# Nothing measured\n")
        self.write("docs/page.md", PAGE)
        self.write("docs/figures/page.py", MAPPING)
        self.record(row("ours", 0.701), row("cg", 1.024))

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def record(self, *rows):
        self.write("results/gpu/times.json", json.dumps({"rows": rows}))

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, "-B", "scripts/figures", *arguments], cwd=self.root, capture_output=True,
                              text=True, check=False)

    def refused(self, *words):
        outcome = self.run_script("--check")
        self.assertEqual(outcome.returncode, 1, outcome.stdout + outcome.stderr)
        self.assertEqual(outcome.stderr, "")
        for word in words:
            self.assertIn(word, outcome.stdout)

    def test_what_agrees_passes(self):
        outcome = self.run_script("--check")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""), outcome.stdout)
        self.assertIn("4 figures of records", outcome.stdout)

    def test_a_digit_that_differs_in_a_sentence_or_a_table(self):
        self.write("docs/page.md", PAGE.replace("takes 0.70", "takes 0.71"))
        self.refused("docs/page.md:3: 0.71, by the records 0.70")
        self.write("docs/page.md", PAGE.replace("| 1.02 |", "| 1.03 |"))
        self.refused("docs/page.md:8: 1.03, by the records 1.02")

    def test_a_record_that_has_changed_is_written_into_the_page(self):
        self.record(row("ours", 0.654), row("cg", 1.024))
        self.refused("0.70, by the records 0.65")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual((self.root / "docs/page.md").read_text(encoding="utf-8"), PAGE.replace("0.70", "0.65"))
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_a_figure_without_a_record(self):
        self.write("docs/page.md", PAGE + "\nA graph takes 0.54 us.\n")
        self.refused("docs/page.md: no record in docs/figures/page.py for 1 figure: line 10", "0.54")
        self.assertIn("docs/page.md:10: ", self.run_script("--list").stdout)
        self.write("docs/other.md", "It takes 3 us.\n")  # a document without a mapping
        self.refused("docs/other.md: no record in docs/figures/other.py for 1 figure")

    def test_a_sentence_that_is_gone_or_stands_twice(self):
        self.write("docs/page.md", PAGE.replace("The barrier takes", "It takes"))
        self.refused("'The barrier takes {} us' stands there 0 times, not once")
        self.write("docs/page.md", PAGE + "\nThe barrier takes 0.70 us.\n")
        self.refused("stands there 2 times, not once")

    def test_rows_that_are_missing_failed_or_wrong_give_no_figure(self):
        self.record(row("ours", 0.701))
        self.refused("has 0 rows of 'cg'")
        self.record(row("ours", 0.701), row("cg", 1.024, status="failed"))
        self.refused("has 0 rows of 'cg'")
        self.record(row("ours", 0.701), row("cg", 1.024, verified=False))
        self.refused("was found wrong, so it has no figure")
        self.record(row("ours", 0.701), row("cg", 1.024), row("cg", 2))
        self.refused("has 2 rows of 'cg'")

    def test_a_mapping_that_ends_early_is_one_documents_failure(self):
        self.write("docs/figures/page.py", MAPPING + "[][0]\n")
        self.refused("docs/figures/page.py: IndexError: list index out of range")

    def test_parts_know_the_mapping_and_not_each_other(self):
        (self.root / "docs/figures/page").mkdir()
        sentence, *rest = MAPPING.partition("table(")
        self.write("docs/figures/page.py", sentence)
        self.refused("for 2 figures")
        self.write("docs/figures/page/a_table.py", "".join(rest) + "of_the_table = 1\n")
        self.assertEqual(self.run_script("--check").returncode, 0)
        self.write("docs/figures/page/behind.py", "of_the_table\n")
        self.refused("docs/figures/page/behind.py: NameError: name 'of_the_table' is not defined")
        self.write("docs/figures/page/behind.py", 'says("Nothing takes {} us", 1)\n')
        self.refused("'Nothing takes {} us' stands there 0 times, not once; change it in docs/figures/page/behind.py, too")

    def test_wrong_usage(self):
        outcome = self.run_script("--all")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("usage: scripts/figures [--check | --list]", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
