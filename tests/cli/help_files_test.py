"""gpusync completions and gpusync manual: what shells and man make of them.

usage: help_files_test.py GPUSYNC
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tool
from tool import ToolTest, run


class HelpFiles(ToolTest):
    def commands(self):
        text = run("--help").out
        return re.findall(r"(?m)^  ([a-z]+) +[A-Z]", text[text.index("Subcommands:"):])

    def complete(self, line, with_package=True):
        """What bash offers at the end of a line, with the package bash-completion and without."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "gpusync")
            with open(script, "w", encoding="utf-8") as file:
                file.write(run("completions", "bash").out)
            package = """_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
              words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }"""
            program = f"""
            {package if with_package else ""}
            compopt() {{ :; }}
            gpusync() {{ '{tool.TOOL}' "$@"; }}
            . '{script}'
            COMP_WORDS=({line} ${{LAST-}}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _gpusync
            printf '%s\\n' "${{COMPREPLY[@]}}"
            """
            done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

    def test_bash_completes_commands_options_experiments_and_devices(self):
        self.assertEqual(sorted(self.complete("gpusync re")), ["report", "reproduce"])
        self.assertEqual(self.complete("gpusync adv"), ["advise"])
        self.assertLessEqual({"run", "list", "compare", "doctor"}, set(self.complete("gpusync ''")))
        self.assertEqual(self.complete("gpusync run barrier-c"), ["barrier-cost"])
        self.assertEqual(self.complete("gpusync run barrier-c", with_package=False), ["barrier-cost"])
        self.assertIn("--quick", self.complete("gpusync run barrier-cost --q"))
        devices = [device["id"] for device in json.loads(run("devices", "--json").out)["devices"]]
        self.assertEqual(self.complete("gpusync run barrier-cost -d ''"), devices)
        self.assertEqual(self.complete("gpusync --verbose run barrier-c"), ["barrier-cost"])

    def test_every_command_and_option_of_the_help_is_in_all_of_them(self):
        texts = {shell: run("completions", shell).out for shell in ("bash", "zsh", "fish")}
        manual = run("manual").out.replace("\\-", "-")
        commands = self.commands()
        self.assertGreater(len(commands), 8)
        for command in commands:
            options = set(re.findall(r"--[a-z-]+", run(command, "--help").out)) - {"--help"}
            for shell, text in texts.items():
                self.assertRegex(text, rf"\b{command}\b")
                for option in options:
                    self.assertIn(option if shell != "fish" else f"-l {option[2:]}", text, (shell, command))
            self.assertIn(f".SH {command.upper()}\n", manual)
            for option in options:
                self.assertIn(option, manual, command)

    def test_the_shells_and_man_find_no_fault_with_them(self):
        for shell, check in [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])]:
            if shutil.which(shell) is None:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=f".{shell}") as file:
                file.write(run("completions", shell).out)
                file.flush()
                done = subprocess.run([*check, file.name], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        if shutil.which("man") is None:
            return
        done = subprocess.run(["man", "--warnings", "-l", "-"], input=run("manual").out, capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("COMPARE", done.stdout)

    def test_a_shell_that_nobody_knows_is_refused(self):
        self.assert_one_sentence(run("completions", "tcsh"), 2, "bash, zsh, fish", "tcsh")


if __name__ == "__main__":
    unittest.main()
