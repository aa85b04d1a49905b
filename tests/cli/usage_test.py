"""Bad input: one sentence that names the culprit and what is allowed, exit 2, under a second, nothing half-written."""

import json
import os
import re
import subprocess
import tempfile
import unittest

from tool import TOOL, ToolTest, run

QUICK_HOST = ["run", "barrier-cost", "-d", "host", "--quick"]


class Usage(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def assert_folder_empty(self):
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_unknown_experiment(self):
        self.assert_one_sentence(run("run", "no-such", "--json", self.path("x.json")), 2, "no-such", "barrier-cost")
        self.assert_folder_empty()

    def test_unknown_kind_of_device(self):
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "abacus"), 2, "abacus", "cuda:N", "host")
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "cuda:x"), 2, "cuda:x")

    def test_device_that_is_not_there(self):
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "cuda:77"), 3, "cuda:77", "host")

    def test_each_experiment_takes_the_first_device_that_it_runs_on(self):
        here = [device["id"] for device in json.loads(run("devices", "--json").out)["devices"]]
        fitting = {}
        for each in json.loads(run("list", "--json").out)["experiments"]:
            with self.subTest(each["name"]):
                fits = [device for device in here if device.split(":")[0] in each["devices"]]
                if fits:
                    fitting[each["name"]] = fits[0]
                else:
                    article = "an" if each["devices"][0] == "opencl" else "a"
                    self.assert_one_sentence(run("run", each["name"], "--quick", "--dry-run"), 3,
                                             f"{each['name']} needs {article} ", "this machine has " + ", ".join(here))
        outcome = run("run", *fitting, "--quick", "--dry-run")
        self.assertEqual(outcome.code, 0, outcome.err)
        for name, device in fitting.items():
            self.assertRegex(outcome.out, f"(?m)^{name} on {device}: ")

    def test_the_documentation_has_every_experiment_and_what_it_runs_on(self):
        words = {"all": ["cuda", "opencl", "host"], "CUDA": ["cuda"], "CUDA, host": ["cuda", "host"], "OpenCL": ["opencl"], "host": ["host"]}
        documented = {}
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "cli.md"), encoding="utf-8") as file:
            for names, devices in re.findall(r"^\| (`[a-z0-9`, -]+`) \| ([A-Za-z, ]+) \| ", file.read(), re.MULTILINE):
                documented.update({name: words[devices] for name in re.findall("`([^`]+)`", names)})
        self.assertEqual(documented, {one["name"]: one["devices"] for one in json.loads(run("list", "--json").out)["experiments"]})

    def test_malformed_axes(self):
        for axis, word in [("blocks=0", "1 to 65535"), ("blocks=9:1", "9:1 is empty"), ("blocks=x", "'x'"),
                           ("blocks=", "''"), ("blocks", "NAME=VALUES"), ("stores=2", "0 to 1"),
                           ("colour=3", "the axes are blocks, threads, stores, method"), ("method=prayer", "lock-based")]:
            with self.subTest(axis):
                self.assert_one_sentence(run(*QUICK_HOST, "-a", axis, "--json", self.path("x.json")), 2, word)
        self.assert_folder_empty()

    def test_unwritable_outputs(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", "/nonexistent/x.json"), 2, "/nonexistent/x.json")
        self.assert_one_sentence(run(*QUICK_HOST, "--csv", self.folder.name), 2, self.folder.name)

    def test_one_bad_output_leaves_no_other_behind(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", self.path("good.json"), "--md", "/nonexistent/x.md"), 2,
                                 "/nonexistent/x.md")
        self.assert_folder_empty()

    def test_two_outputs_on_stdout(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", "-", "--csv", "-"), 2, "standard output")

    def test_outputs_that_cannot_be_meant(self):
        same = self.path("same")
        self.assert_one_sentence(run(*QUICK_HOST, "--json", same, "--csv", same), 2, "same file")
        self.assert_one_sentence(run(*QUICK_HOST, "--json", ""), 2)
        self.assert_one_sentence(run(*QUICK_HOST, "--json", "/dev/null", "--resume"), 2, "--resume", "/dev/null")
        self.assert_folder_empty()

    def test_names_with_line_breaks_stay_on_one_line(self):
        self.assert_one_sentence(run("run", "a\nb"), 2, "a b")
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "a\nb"), 2)

    def test_unknown_flags_and_commands(self):
        for arguments in [["run"], ["frobnicate"], [], ["run", "barrier-cost", "--nonsense"], ["report"],
                          ["run", "barrier-cost", "-a"], ["--quiet", "--verbose", "list"]]:
            with self.subTest(arguments):
                self.assert_one_sentence(run(*arguments), 2)

    def test_words_that_nearly_name_something_are_answered_with_it(self):
        for arguments, meant in [(["raport"], "Did you mean report?"), (["--quiet", "devcies"], "Did you mean devices?"),
                                 (["run", "stensil"], "Did you mean stencil?")]:
            self.assert_one_sentence(run(*arguments), 2, arguments[-1], meant)
        host = ["run", "barrier-cost", "-d", "host", "-a"]
        self.assert_one_sentence(run(*host, "metod=no-barrier"), 2, "'metod'", "Did you mean method?")
        self.assert_one_sentence(run(*host, "method=no-barier"), 2, "'no-barier'", "Did you mean no-barrier?")
        for arguments in (["frobnicate"], ["run", "frobnicate"]):
            outcome = run(*arguments)
            self.assert_one_sentence(outcome, 2, "frobnicate")
            self.assertNotIn("Did you mean", outcome.err)

    def test_no_input_is_overwritten_however_it_is_spelled(self):
        document = json.dumps({"schema": "gpusync-results/2", "context": {"complete": True}, "rows": []})
        path = self.path("a.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(document)
        os.symlink(path, self.path("symbolic.json"))
        os.link(path, self.path("hard.json"))
        folder, name = os.path.split(path)
        for output in (path, self.path("symbolic.json"), self.path("hard.json"), f"{folder}/./{name}",
                       f"{folder}/../{os.path.basename(folder)}/{name}"):
            with self.subTest(output):
                self.assert_one_sentence(run("report", path, "-o", output), 2, "a.json", "-o")
                self.assert_one_sentence(run("report", output, "-o", path), 2, "-o")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), document)
        self.assertEqual(sorted(os.listdir(folder)), ["a.json", "hard.json", "symbolic.json"])

    def test_no_sequence_is_overwritten(self):
        for axis in ("query", "reference"):
            for output in ("--json", "--csv", "--md"):
                with open(self.path("q.fa"), "w", encoding="utf-8") as file:
                    file.write(">a\nACGT\n")
                with open(self.path("r.fa"), "w", encoding="utf-8") as file:
                    file.write(">b\nACGT\n")
                os.symlink(self.path("q.fa" if axis == "query" else "r.fa"), self.path("other"))
                outcome = run("run", "smith-waterman", "-d", "host", "-a", "query=" + self.path("q.fa"), "-a",
                              "reference=" + self.path("r.fa"), output, self.path("other"))
                self.assert_one_sentence(outcome, 2, "take the place of the input")
                for name in ("q.fa", "r.fa"):
                    with open(self.path(name), encoding="utf-8") as file:
                        self.assertTrue(file.read().startswith(">"))
                os.remove(self.path("other"))

    def test_what_is_named_twice_is_measured_once(self):
        outcome = run("run", "barrier-cost", "barrier-cost", "-d", "host", "-d", "host", "--quick", "-a", "blocks=1",
                      "-a", "stores=0", "-a", "method=no-barrier", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(json.loads(outcome.out)["rows"]), 1)

    def test_two_outputs_do_not_go_to_one_file_however_it_is_spelled(self):
        folder = os.path.dirname(self.path("x"))
        outcome = run("run", "barrier-cost", "-d", "host", "--json", self.path("x"), "--csv", f"{folder}/./x")
        self.assert_one_sentence(outcome, 2, "same file")
        self.assertEqual(os.listdir(folder), [])

    def test_two_outputs_do_not_go_to_one_new_file_by_relative_names(self):
        os.mkdir(self.path("sub"))
        os.symlink("sub", self.path("alias"))
        os.symlink("x", self.path("dangling"))
        here = self.path("")
        for one, other in (("x", "./x"), ("./x", "x"), ("x", "sub/../x"), ("x", self.path("x")), (self.path("x"), "x"),
                           ("sub/x", "alias/x"), ("x", "dangling"), ("dangling", "./x")):
            for options in (("--json", one, "--csv", other), ("--md", one, "--json", other)):
                with self.subTest(options):
                    outcome = run(*QUICK_HOST, *options, cwd=here)
                    self.assert_one_sentence(outcome, 2, "Two outputs cannot go to the same file")
        for one, other in (("x", "./x.partial"), ("./x", "x.partial"), ("x", "alias/../x.partial")):
            with self.subTest(other):
                outcome = run(*QUICK_HOST, "--json", one, "--csv", other, cwd=here)
                self.assert_one_sentence(outcome, 2, "take the place of what is kept of the run", "another name")
        self.assertEqual(sorted(os.listdir(here)), ["alias", "dangling", "sub"])

    def test_closed_streams_are_survived_and_files_do_not_take_their_place(self):
        for closed, code in (("<&-", 0), ("2>&-", 0), (">&-", 1), ("<&- >&- 2>&-", 1)):
            with self.subTest(closed):
                shell = subprocess.run(["bash", "-c", f'"$0" devices {closed}', TOOL], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, check=False)
                self.assertEqual(shell.returncode, code)
        page = self.path("page.html")
        document = self.path("a.json")
        with open(document, "w", encoding="utf-8") as file:
            file.write(json.dumps({"schema": "gpusync-results/2", "context": {"complete": True}, "rows": []}))
        subprocess.run(["bash", "-c", f'"$0" report {document} -o {page} >&- 2>&-', TOOL], check=True)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.lower().startswith("<!doctype html>") and text.rstrip().endswith("</html>"))

    def test_result_files_that_are_none(self):
        good = {"schema": "gpusync-results/2", "context": {"complete": True}, "rows": []}
        text = json.dumps(good)
        cases = {"truncated.json": text[: len(text) // 2], "other.json": json.dumps({**good, "schema": "gpusync-results/99"}),
                 "foreign.json": '{"benchmarks": []}', "empty.json": "", "list.json": "[1, 2]"}
        for name, contents in cases.items():
            with self.subTest(name):
                with open(self.path(name), "w", encoding="utf-8") as file:
                    file.write(contents)
                self.assert_one_sentence(run("report", self.path(name), "-o", self.path("page.html")), 2, name)
                self.assertFalse(os.path.exists(self.path("page.html")))
        self.assert_one_sentence(run("report", self.path("absent.json"), "-o", self.path("page.html")), 2, "absent.json")

    def test_an_existing_output_survives_a_failed_command(self):
        with open(self.path("kept.html"), "w", encoding="utf-8") as file:
            file.write("kept")
        self.assert_one_sentence(run("report", "/nonexistent.json", "-o", self.path("kept.html")), 2)
        with open(self.path("kept.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_help_of_an_experiment_says_what_is_taken_unasked(self):
        for name, lines in {"smith-waterman": ("-a mismatch=… ", "default: -1)", "default: 4096 on CUDA, 1024 elsewhere"),
                            "bitonic-sort": ("-a type=… ", "default: float32)", "default: 262144 on CUDA"),
                            "barrier-cost": ("-a stores=… ", "default: 0,1)")}.items():
            outcome = run("run", name, "--help")
            self.assertEqual(outcome.code, 0)
            for line in lines:
                self.assertIn(line, outcome.out)
        for each in json.loads(run("list", "--json").out)["experiments"]:
            for axis in each["axes"]:
                self.assertIn("default", axis)
                self.assertTrue(axis["default"], (each["name"], axis))

    def test_methods_of_the_devices_that_are_here_are_listed_and_taken(self):
        for each in json.loads(run("list", "--json").out)["experiments"]:
            for device, methods in each["methods"].items():
                with self.subTest(each["name"], device=device):
                    self.assertTrue(methods)
                    outcome = run("run", each["name"], "-d", device, "-a", "method=" + ",".join(methods), "--dry-run")
                    self.assertEqual(outcome.code, 0, outcome.err)
        for outcome in (run("list", "barrier-cost"), run("run", "barrier-cost", "--help")):
            self.assertRegex(outcome.out, "methods on host: no-barrier, .*lock-based-fence, ")

    def test_a_reader_who_had_enough_is_no_failure(self):
        recorded = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../results/nvidia-h200/step-costs.json")
        for arguments in (f"report {recorded} -o -", "list --quiet", "list --json", "coverage --json", "doctor", "--help", "manual",
                          "run barrier-cost -d host --quick -a blocks=1 -a stores=0 -a method=no-barrier --quiet"):
            with self.subTest(arguments):
                outcome = subprocess.run(["bash", "-c", f'"$0" {arguments} | true; echo "${{PIPESTATUS[0]}}"', TOOL],
                                         capture_output=True, text=True, check=False)
                self.assertEqual((outcome.stdout, outcome.stderr), ("0\n", ""))

    def test_what_standard_output_does_not_take_is_said_with_the_reason(self):
        for arguments in (["list", "--quiet"], ["manual"], ["coverage", "--json"]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                outcome = subprocess.run([TOOL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((outcome.returncode, outcome.stderr),
                                 (1, "gpusync: Standard output could not be written: No space left on device.\n"))

    def test_a_document_that_nobody_reads_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            command = '"$0" run barrier-cost -d host --quick -a blocks=1 -a stores=0 -a method=no-barrier --json - | true'
            outcome = subprocess.run(["bash", "-c", command + '; exit "${PIPESTATUS[0]}"', TOOL], capture_output=True,
                                     text=True, check=False, env={**os.environ, "TMPDIR": folder})
            self.assertEqual(outcome.returncode, 1, outcome.stderr)
            self.assertIn("its contents were saved as " + folder, outcome.stderr)
            with open(os.path.join(folder, os.listdir(folder)[0]), encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)["rows"]), 1)

    def test_doctor_ends_with_what_to_do(self):
        outcome = run("doctor")
        self.assertEqual(outcome.code, 0)
        problems = sum(line.startswith("PROBLEM") for line in outcome.out.split("\n"))
        last = outcome.out.strip().split("\n")[-1]
        ids = [each["id"] for each in json.loads(run("devices", "--json").out)["devices"]]
        measure = "measure"
        if not any(each.startswith("cuda:") for each in ids):  # what is left to measure is named
            measure = rf"measure {', '.join(ids[:-1])}{' and ' if len(ids) > 1 else ''}{ids[-1]} \(no GPU is found\)"
        if problems == 0:
            self.assertRegex(last, rf"^No problem: {measure}\.$")
        else:
            self.assertRegex(last, rf"^{problems} problems?: .*(wait|take) .*, then {measure}\.$")
        self.assertLessEqual(len(last.split()), 25)

    def test_help_is_given_whatever_else_is_wrong(self):
        for arguments in (["compare", "--help", "a.json"], ["compare", "a.json", "--help"], ["compare", "--help"],
                          ["run", "--help"], ["run", "barrier-cost", "--nonsense", "--help"],
                          ["compare", "--least", "x", "-h"], ["report", "a.json", "--help"],
                          ["completions", "bash", "zsh", "--help"]):
            with self.subTest(arguments):
                outcome = run(*arguments)
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                self.assertIn(f"gpusync {arguments[0]} [OPTIONS]", outcome.out)

    def test_completions_are_for_one_shell_at_a_time(self):
        self.assert_one_sentence(run("completions", "bash", "zsh", "fish"), 2, "one of bash, zsh, fish at a time",
                                 "'zsh' is too many")

    def test_help_and_version(self):
        for arguments in [["--help"], ["run", "--help"], ["--version"]]:
            outcome = run(*arguments)
            self.assertEqual(outcome.code, 0)
            self.assertNotEqual(outcome.out, "")
        self.assertIn("cuda:N", run("--help").out)
        for command, takes_a_device in (("run", True), ("tune", True), ("coverage", False), ("report", False), ("devices", False)):
            said = run(command, "--help").out
            self.assertEqual("DEVICE is cuda:N" in said, takes_a_device, command)
            self.assertIn("Exit codes: 0 done", said)


if __name__ == "__main__":
    unittest.main()
