"""Where figures of docs/phased.md are from; scripts/figures has the words of this text."""

phases = record("nvidia-h200/oversubscription", "step_time")
methods = {"relaunch": "relaunch", "graph": "graph", "striding": "phased-striding", "claiming": "phased-claiming",
           "flags": "phased-flag-claiming"}


def phase(row, column):
    if column == "virtual blocks":
        return STATED
    return phases(methods[column], virtual_blocks=row[0].replace(",", ""), resident=1056, device="cuda:0")


table("| virtual blocks | relaunch |", phase, digits=3)
states("(Shen 2013, section {}; item S5)", "of the thesis")
table("| schedule | then |", lambda row, column: [STATED] if column == "barriers per phase" else None)
waves = [phases("phased-striding", "step_time_over_relaunch", virtual_blocks=blocks, resident=1056, device="cuda:0")
         for blocks in (1, 528, 1056, 2112)]
says("Striding takes {} to {} of a relaunch up to two waves", min(waves), max(waves))
tests = "nvidia-h200/device-tests.txt"
states("virtual blocks on {} it took", "what is resident in the test")
pattern = r"^striding: .*, ([\d.]+) us a phase; a launch for each: ([\d.]+)"
says("it took {} us a phase where launches took {} (", log(tests, pattern, 1), log(tests, pattern, 2))
