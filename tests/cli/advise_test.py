"""gpusync advise, and the experiments that it stands on.

usage: advise_test.py GPUSYNC
"""

import json
import os
import unittest

from tool import FolderTest, run

USUAL = ["--blocks", "132", "--threads", "256", "--step-us", "2", "--steps", "500"]
H200 = ["-d", "nvidia-h200"]
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results")


def recorded(card):
    """Where the document is that the costs of a card were fitted to."""
    return os.path.join(RESULTS, f"nvidia-{card}", "step-costs.json")


def advise(*arguments):
    """What it says of the recorded H200, as JSON."""
    said = {**dict(zip(USUAL[::2], USUAL[1::2])), **dict(zip(arguments[::2], arguments[1::2]))}
    outcome = run("advise", *[word for pair in said.items() for word in pair], *H200, "--json")
    if outcome.code != 0:
        raise AssertionError(outcome.err)
    return json.loads(outcome.out)


class Advise(FolderTest):
    def test_the_recommendation_is_the_least_prediction_and_each_lies_within_its_interval(self):
        found = advise()
        self.assertEqual(found["device"], "NVIDIA H200")
        times = [each["us_per_step"] for each in found["predictions"]]
        self.assertGreaterEqual(len(times), 3)
        self.assertEqual(times, sorted(times))
        self.assertEqual(found["recommendation"], found["predictions"][0]["method"])
        self.assertEqual([found["situation"][name] for name in ("blocks", "threads", "steps", "gpus")], [132, 256, 500, 1])
        for each in found["predictions"]:
            self.assertLessEqual(each["low"], each["us_per_step"])
            self.assertLessEqual(each["us_per_step"], each["high"])
            self.assertGreaterEqual(each["us_per_step"], 2)
            if each["host_us"] is None:
                self.assertAlmostEqual(each["work_us"] + sum(each["terms"].values()), each["us_per_step"], places=9)

    def test_neighbours_pay_where_blocks_differ(self):
        skewed = ["--waits-for", "2", "--skew-us", "2", "--skew", "exponential"]
        found = advise(*skewed)
        self.assertIn(found["recommendation"], ("halo", "neighbour-barrier"))
        of_all = advise(*skewed[2:])
        self.assertGreater(of_all["predictions"][0]["us_per_step"], 1.5 * found["predictions"][0]["us_per_step"])
        self.assertIn("halo", [each["method"] for each in of_all["refused"]])

    def test_more_blocks_than_fit_leave_launches_alone(self):
        found = advise("--resident", "131")
        self.assertTrue(found["recommendation"].startswith("graph") or "launch" in found["recommendation"], found)
        reasons = {each["method"]: each["reason"] for each in found["refused"]}
        self.assertEqual(reasons["cg"], "132 blocks cannot all run at once, at most 131 can; a phased grid runs as many and goes "
                                        "through the others")
        self.assertEqual(advise("--resident", "1000000")["predictions"], advise()["predictions"])

    def test_what_does_not_stay_on_the_chip_is_not_kept_there(self):
        found = advise("--keep-bytes", "1000000")
        reasons = {each["method"]: each["reason"] for each in found["refused"]}
        self.assertEqual(reasons["placed-counters-acquire-release"], "1000000 bytes of an SM's blocks do not stay on the chip")
        self.assertEqual({each["method"] for each in found["predictions"]},
                         {"launch-wait", "relaunch", "cooperative-relaunch", "graph", "graph-pdl", "graph-pdl-late"})

    def test_eight_neighbours_are_known_and_few_blocks_do_not_have_them(self):
        found = advise("--step-us", "0", "--store-bytes", "1024", "--steps", "1000000", "--waits-for", "8")
        self.assertEqual((found["recommendation"], found["beyond_measured"]), ("halo", []))
        few = advise("--blocks", "4", "--waits-for", "8")
        self.assertIn("4 blocks do not have 8 neighbours each", [each["reason"] for each in few["refused"]])

    def test_no_step_takes_less_than_the_work_that_all_blocks_have(self):
        for found in (advise("--step-us", "1000000"), advise("--step-us", "30", "--skew-us", "10", "--store-bytes", "10000000")):
            for each in found["predictions"]:
                self.assertGreaterEqual(each["low"], 20)
        self.assertGreaterEqual(min(each["low"] for each in advise("--step-us", "1000000")["predictions"]), 1000000)

    def test_costs_come_from_several_documents(self):
        recorded = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../results/nvidia-h100")
        both = [word for name in ("step-costs", "halo-exchange") for word in ("--from", os.path.join(recorded, name + ".json"))]
        of_documents = run("advise", *USUAL, *both, "--json")
        self.assertEqual(of_documents.code, 0, of_documents.err)
        of_device = run("advise", *USUAL, "-d", "h100", "--json")
        for one, other in zip(json.loads(of_documents.out)["predictions"], json.loads(of_device.out)["predictions"]):
            self.assertEqual(one["method"], other["method"])
            self.assertAlmostEqual(one["us_per_step"], other["us_per_step"], delta=0.001 * one["us_per_step"])

    def test_several_gpus_have_ways_of_their_own(self):
        found = advise("--gpus", "2")
        self.assertEqual(found["recommendation"], "multi-gpu-replicated")
        self.assertTrue(found["predictions"][0]["us_per_step"] > 2)

    def test_what_was_never_measured_is_said(self):
        self.assertTrue(any("bytes stored" in each for each in advise("--store-bytes", "10000000")["beyond_measured"]))

    def test_in_words(self):
        outcome = run("advise", *USUAL, *H200, "--explain", "--no-color")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertRegex(outcome.out, r"(?m)^132 blocks x 256 threads, 2 us, 4 bytes to all, 500 steps on NVIDIA H200$")
        self.assertRegex(outcome.out, r"(?m)^  method +us a step +interval +work +waiting$")
        self.assertRegex(outcome.out, r"(?m)^  cg: 2\.00 work \+ \d\S+ round_trip")
        last = outcome.out.strip().split("\n")[-1]
        self.assertRegex(last, r"^Take \S+: \S+ us a step, of which 2\.00 us is the work .* Next is \S+ with \S+ us more"
                                r".* In a program it is gpusync::grid_barrier\.$")

    def test_without_a_gpu_it_says_whose_costs_these_are(self):
        devices = json.loads(run("devices", "--json").out)["devices"]
        if any(each["id"].startswith("cuda:") for each in devices):
            self.skipTest("there is one")
        outcome = run("advise", *USUAL)
        self.assertEqual(outcome.code, 0)
        self.assertIn("recorded on an NVIDIA H200", outcome.err)

    def test_whole_numbers_may_be_written_in_short(self):
        self.assertEqual(advise("--steps", "1e3", "--threads", "2^8"), advise("--steps", "1000"))
        for steps in ("1.5", "2^0.5", "2^", "1e3x", "-1", "1e16", "inf", "nan", "2^-1"):
            with self.subTest(steps=steps):
                self.assert_one_sentence(run("advise", *USUAL[:6], f"--steps={steps}"), 2, "--steps", steps, "no whole number")

    def test_longer_steps_and_wider_skew_than_measured_are_less_sure(self):
        usual = {each["method"]: each for each in advise()["predictions"]}
        self.assertEqual(advise()["beyond_measured"], [])
        for more, what in ((["--step-us", "1000"], "microseconds of work 1000"),
                           (["--step-us", "1000", "--skew-us", "900"], "microseconds of work that differs 900")):
            found = advise(*more)
            self.assertTrue(any(each.startswith(what) for each in found["beyond_measured"]), found["beyond_measured"])
            for each in found["predictions"]:
                before = usual[each["method"]]
                self.assertAlmostEqual(each["high"] / each["us_per_step"] - 1, 2 * (before["high"] / before["us_per_step"] - 1))

    def test_what_cannot_be_is_refused_in_words(self):
        for arguments, words in [
                (["--blocks", "132"], ["--threads"]),
                ([*USUAL[:6], "--steps", "0"], ["--steps"]),
                (["--blocks", "0", *USUAL[2:]], ["--blocks"]),
                ([*USUAL[:2], "--threads", "2000", *USUAL[4:]], ["--threads", "1024"]),
                ([*USUAL, "--step-us", "nan"], ["--step-us"]),
                ([*USUAL, "--skew-us", "3"], ["not 3.", "from 0 to its 2 microseconds"]),
                ([*USUAL, "--skew", "gaussian"], ["gaussian", "uniform or exponential"]),
                ([*USUAL, "--skew", "exponential"], ["--skew-us"]),
                (["--blocks", "2147483648", *USUAL[2:]], ["--blocks", "2147483647"]),
                ([*USUAL, "--waits-for", "3"], ["'3'", "2, 4 or 8 neighbours"]),
                ([*USUAL, *H200, "--gpus", "8"], ["up to 2 GPUs, not of 8", "multi-gpu-barrier"]),
                ([*USUAL, "-d", "nvidia-h20"], ["nvidia-h20'", "Did you mean nvidia-h200?"]),
                ([*USUAL, "-d", "host"], ["No costs of host", "gpusync run step-costs -d host"]),
                ([*USUAL, "--from", recorded("h200"), "--gpus", "2"], ["of one GPU, not of 2"]),
                ([*USUAL, "--from", recorded("h200"), "--from", recorded("h100")], ["H200", "H100", "documents of one device"]),
                ([*USUAL, "--from", recorded("h200"), "--from", recorded("h200")], ["named twice"]),
                ([*USUAL, "--from", recorded("h200"), "-d", "nvidia-h100"], ["'nvidia-h100'", "it has cuda:0 (NVIDIA H200)"]),
                ([*USUAL, "--from", self.path("missing.json")], ["missing.json"])]:
            with self.subTest(arguments=arguments):
                # Documents of thousands of rows are read and fitted first.
                self.assert_one_sentence(run("advise", *arguments), 2, *words, within=10 if "--from" in arguments else 1)
        by_name = run("advise", *USUAL, "--from", recorded("h200"), "-d", "h200")
        self.assertEqual((by_name.code, by_name.err), (0, ""))
        for device in json.loads(run("devices", "--json").out)["devices"]:
            if device["kind"] == "opencl":
                self.assert_one_sentence(run("advise", *USUAL, "-d", device["id"]), 2, "not on " + device["id"])
        with open(recorded("h200"), encoding="utf-8") as file:
            room = json.load(file)
        for row in room["rows"]:
            if row["method"] == "room":
                row["metrics"]["sms"]["value"] = 1e300
        outcome = run("advise", *USUAL, "--from", self.write("room.json", json.dumps(room)), "--json")
        self.assertTrue(json.loads(outcome.out)["predictions"][0]["us_per_step"] > 2, outcome)
        empty = self.write("empty.json", json.dumps({"schema": "gpusync-results/2", "context": {}, "rows": []}))
        self.assert_one_sentence(run("advise", *USUAL, "--from", empty), 2, "empty.json", "gpusync run step-costs")
        self.assert_one_sentence(run("run", "advice", "-d", "host", "-a", f"from={empty}"), 2, "empty.json")

    def test_costs_are_measured_and_then_held_against_other_cases(self):
        costs, cases = self.path("costs.json"), self.path("cases.json")
        outcome = run("run", "step-costs", "-d", "host", "--quick", "-a", "cases=12", "--json", costs)
        self.assertEqual(outcome.code, 0, outcome.err)
        outcome = run("advise", "--blocks", "2", "--threads", "1", "--step-us", "5", "--steps", "50", "--from", costs, "--json")
        self.assertEqual(outcome.code, 0, outcome.err)
        methods = [each["method"] for each in json.loads(outcome.out)["predictions"]]
        self.assertIn("launch-wait", methods)
        self.assertIn("lock-based-acquire-release", methods)

        outcome = run("run", "advice", "-d", "host", "--quick", "-a", "cases=4", "-a", f"from={costs}", "--json", cases)
        self.assertEqual(outcome.code, 0, outcome.err)
        with open(cases, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        followed = [row for row in rows if row["method"] == "adviser" and "regret" in row["metrics"]]
        self.assertEqual(len(followed), 4)
        predicted = [row for row in rows if "predicted" in row["metrics"]]
        for row in predicted:
            self.assertTrue(row["verified"], row)
            error = row["metrics"]["predicted"]["value"] / row["metrics"]["step_time"]["value"] - 1
            self.assertAlmostEqual(row["metrics"]["error"]["value"], error, places=9)
        for row in followed:
            times = {other["method"]: other["metrics"]["step_time"]["value"]
                     for other in predicted if other["axes"] == row["axes"]}
            self.assertIn(row["verification"].split("recommended ")[1].split(",")[0], times)
            recommended = times[row["verification"].split("recommended ")[1].split(",")[0]]
            self.assertAlmostEqual(row["metrics"]["regret"]["value"], recommended / min(times.values()) - 1, places=9)
        summary = rows[-1]
        near = sum(row["metrics"]["regret"]["value"] <= 0.05 for row in followed)
        self.assertEqual(summary["axes"], {"cases": 4, "seed": 2})
        self.assertAlmostEqual(summary["metrics"]["near_best"]["value"], near / 4)

        # A way of which the costs say nothing may still be the best.
        with open(costs, encoding="utf-8") as file:
            document = json.load(file)
        document["rows"] = [row for row in document["rows"] if row["method"] != "lock-based-acquire-release"]
        few = self.write("few.json", json.dumps(document))
        outcome = run("run", "advice", "-d", "host", "--quick", "-a", "cases=4", "-a", f"from={few}", "--json", cases)
        self.assertEqual(outcome.code, 0, outcome.err)
        with open(cases, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        by_barriers = [row for row in rows if row["method"] == "lock-based-acquire-release"]
        self.assertEqual([row for row in by_barriers if "predicted" in row["metrics"]], [])
        followed = [row for row in rows if row["method"] == "adviser" and "regret" in row["metrics"]]
        self.assertEqual(len(followed), 4)
        for row in followed:
            times = {other["method"]: other["metrics"]["step_time"]["value"]
                     for other in rows if "step_time" in other["metrics"] and other["axes"] == row["axes"]}
            self.assertIn("lock-based-acquire-release", times)
            recommended = times[row["verification"].split("recommended ")[1].split(",")[0]]
            self.assertAlmostEqual(row["metrics"]["regret"]["value"], recommended / min(times.values()) - 1, places=9)

    def test_the_same_seed_draws_the_same_cases(self):
        drawn = []
        for seed in ("3", "3", "4"):
            outcome = run("run", "step-costs", "-d", "host", "--quick", "-a", "cases=2", "-a", f"seed={seed}", "--json", "-")
            self.assertEqual(outcome.code, 0, outcome.err)
            drawn.append([row["axes"] for row in json.loads(outcome.out)["rows"] if "blocks" in row["axes"]])
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])


if __name__ == "__main__":
    unittest.main()
