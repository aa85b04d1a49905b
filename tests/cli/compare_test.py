"""gpusync compare: two documents, or pairs of them, row by row.

usage: compare_test.py GPUSYNC
"""

import json
import math
import os
import random
import tempfile
import unittest

from tool import ToolTest, run


def metric(rounds, unit="us"):
    rounds = list(rounds)
    ordered = sorted(rounds)
    middle = ordered[len(ordered) // 2]
    return {"value": middle, "unit": unit, "n": len(rounds), "q1": ordered[len(ordered) // 4], "median": middle,
            "q3": ordered[3 * len(ordered) // 4], "stddev": 0.0, "samples": rounds, "stop": "samples"}


def a_run(random_numbers, slower=(), methods=12, noise=0.004):
    """A document of a machine whose runs differ by `noise`; methods of these numbers take 5 % longer."""
    rows = []
    for i in range(methods):
        time = (1 + i) * (1.05 if i in slower else 1) * math.exp(random_numbers.gauss(0, noise))
        rows.append({"experiment": "barrier-cost", "items": [], "device": "cuda:0", "axes": {"blocks": 132},
                     "method": f"m{i}", "kind": "barrier", "ordered": True, "rival": False,
                     "metrics": {"step_time": metric(time * math.exp(random_numbers.gauss(0, 0.003)) for _ in range(15))},
                     "verified": True, "status": "ok", "reason": None})
    return {"schema": "gpusync-results/2", "context": {"complete": True}, "rows": rows}


class Compare(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.random = random.Random(7)

    def save(self, name, document):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def pairs(self, count, **options):
        paths = []
        for i in range(count):
            paths.append(self.save(f"before{i}.json", a_run(self.random)))
            paths.append(self.save(f"after{i}.json", a_run(self.random, **options)))
        return paths

    def test_a_method_that_is_five_percent_slower_is_found_and_fails(self):
        outcome = run("compare", *self.pairs(1, slower=(3,)))
        self.assertEqual(outcome.code, 1, outcome.out)
        self.assertRegex(outcome.out, r"m3 +4\.\d\d us +4\.\d\d us +\+\d\.\d % +\[\+\d\.\d %, \+\d\.\d %\] +slower")
        self.assertRegex(outcome.out.strip().split("\n")[-1], r"^Slower: 1 of 12 rows \(worst: m3, \+\d\.\d %\)")

    def test_the_other_way_round_it_is_faster_and_no_failure(self):
        before, after = self.pairs(1, slower=(3,))
        outcome = run("compare", after, before)
        self.assertEqual(outcome.code, 0, outcome.out)
        self.assertIn("\nFaster: 1 of 12 rows (most: m3, -", outcome.out)

    def test_runs_of_one_program_differ_in_nothing(self):
        document = self.pairs(3)
        outcome = run("compare", *document, "--json")
        self.assertEqual(outcome.code, 0, outcome.out)
        found = json.loads(outcome.out)
        self.assertFalse(found["regressed"])
        self.assertEqual((found["pairs"], found["least_effect"], found["confidence"]), (3, 0.02, 0.95))
        self.assertEqual(len(found["rows"]), 12)
        for row in found["rows"]:
            self.assertIn(row["verdict"], ("same", "unclear"))
            self.assertLessEqual(row["low"], row["ratio"])
            self.assertLessEqual(row["ratio"], row["high"])

    def test_a_smaller_least_effect_is_asked_for_in_percent(self):
        paths = self.pairs(1, slower=(3,))
        self.assertEqual(run("compare", *paths, "--least", "10").code, 0)
        self.assertEqual(run("compare", *paths, "--least", "-1").code, 2)
        self.assertEqual(run("compare", *paths, "--confidence", "100").code, 2)

    def test_wrong_results_after_right_ones_fail(self):
        before, after = a_run(self.random), a_run(self.random)
        after["rows"][5].update(verified=False, status="failed", reason="12 of 100 values are wrong")
        outcome = run("compare", self.save("a", before), self.save("b", after))
        self.assertEqual(outcome.code, 1)
        self.assertIn("BROKE", outcome.out)
        self.assertIn("12 of 100 values are wrong", outcome.out)

    def test_rows_that_only_one_has_are_named(self):
        before, after = a_run(self.random, methods=8), a_run(self.random, methods=10)
        outcome = run("compare", self.save("a", before), self.save("b", after))
        self.assertIn("Only after, 2 rows:", outcome.out)

    def test_what_cannot_be_compared_is_refused_in_one_sentence(self):
        before = self.save("a.json", a_run(self.random))
        other = a_run(self.random)
        for row in other["rows"]:
            row["experiment"] = "stencil"
        self.assert_one_sentence(run("compare", before, self.save("b.json", other)), 2, "no row in common")
        self.assert_one_sentence(run("compare", before, before, before), 2, "pairs")
        self.assert_one_sentence(run("compare", before, os.path.join(self.folder.name, "none")), 2, "none")
        self.assertEqual(run("compare", before).code, 2)
        self.assertEqual(run("compare").code, 2)

    def test_a_run_counts_in_one_pair(self):
        one, other, third = *self.pairs(1), self.pairs(2)[2]
        os.link(one, os.path.join(self.folder.name, "copy.json"))
        copy = os.path.join(self.folder.name, "copy.json")
        for documents in ((one, other, one, other), (one, other, copy, third), (one, other, third, other)):
            self.assert_one_sentence(run("compare", *documents), 2, "is given twice")
        self.assertEqual(run("compare", one, one).code, 0)

    def test_a_copy_of_a_run_is_no_further_run(self):
        before, after = self.pairs(1)
        copies = []
        for i, path in enumerate((before, after)):
            with open(path, encoding="utf-8") as file:
                copies.append(self.save(f"copy{i}.json", json.load(file)))
        self.assert_one_sentence(run("compare", before, after, *copies), 2, "copy0.json", "is the same run as",
                                 "before0.json")
        self.assertEqual(run("compare", before, copies[0]).code, 0)

    def test_a_row_that_was_lost_in_the_noise_is_unclear(self):
        before, after = a_run(self.random), a_run(self.random)
        lost = after["rows"][5]
        lost.update(status="skipped", reason="Not above the noise: longer runs did not take longer for certain.")
        lost["metrics"]["step_time"].update(value=None, median=None)
        paths = self.save("a", before), self.save("b", after)
        for documents in (paths, paths[::-1]):
            outcome = run("compare", *documents)
            self.assertEqual(outcome.code, 0, outcome.out)
            self.assertRegex(outcome.out, r"m5 .* unclear +not above the noise")
            self.assertNotIn("BROKE", outcome.out)
            self.assertNotIn("mended", outcome.out)
        for row in after["rows"][1:]:
            row.update(status="skipped", reason=lost["reason"])
            row["metrics"]["step_time"].update(value=None, median=None)
        outcome = run("compare", paths[0], self.save("b", after))
        self.assertEqual(outcome.code, 0, outcome.out)
        self.assertRegex(outcome.out.strip().split("\n")[-1], "^Unclear: .*; measure again on an idle machine")

    def test_what_broke_in_one_pair_is_found_in_any_order_of_pairs(self):
        good, wrong, lost = a_run(self.random), a_run(self.random), a_run(self.random)
        wrong["rows"][5].update(verified=False, status="failed", reason="12 of 100 values are wrong")
        lost["rows"][5]["metrics"]["step_time"]["value"] = None
        breaks = self.save("a1", good), self.save("b1", wrong)
        harmless = self.save("a2", a_run(self.random)), self.save("b2", lost)
        for documents in (breaks + harmless, harmless + breaks):
            outcome = run("compare", *documents)
            self.assertEqual(outcome.code, 1, outcome.out)
            self.assertRegex(outcome.out, r"m5 .* BROKE +after: failed: 12 of 100 values are wrong")

    def test_where_nothing_is_compared_it_is_no_success(self):
        other = a_run(self.random)
        for row in other["rows"]:
            row["experiment"] = "stencil"
        pair, third = self.pairs(1), self.save("third.json", a_run(self.random))
        outcome = run("compare", *pair, third, self.save("other.json", other))
        self.assert_one_sentence(outcome, 2, "third.json", "other.json", "no row in common")
        for row in other["rows"]:
            row.update(verified=False, status="failed", reason="wrong")
        path = self.save("other.json", other)
        outcome = run("compare", path, path)
        self.assertEqual(outcome.code, 1)
        self.assertIn("\nNothing was compared: ", outcome.out)

    def test_of_rows_without_times_it_is_compared_whether_they_are_right(self):
        before = a_run(self.random)
        for row in before["rows"]:
            row["metrics"] = {"runs": metric([7] * 3, "1")}
        path = self.save("a", before)
        outcome = run("compare", path, path)
        self.assertEqual((outcome.code, outcome.out), (0, "12 rows right before and after; none has a time.\n"))

    def test_recorded_documents_of_either_version_can_be_compared(self):
        recorded = os.path.join(os.path.dirname(__file__), "../../results/nvidia-h200/")
        first, later = recorded + "grid-barriers.json", recorded + "grid-barriers-safety.json"
        outcome = run("compare", first, later, "--json")
        self.assertIn(outcome.code, (0, 1), outcome.err)
        self.assertTrue(any(row["verdict"] for row in json.loads(outcome.out)["rows"]))


if __name__ == "__main__":
    unittest.main()
