"""Where the figures of docs/cli.md are from; scripts/figures has the words of this text."""

setting = "what the tool is set to"
states("lies wholly beyond {} % (`--least`)", setting)
states("lies wholly within {} %", setting)
states("is called faster or slower in at most {} % of cases (100 - `--confidence`)", setting)
states("Where another barrier is more than {} % faster, a line says so", setting)
table("| code | meaning |", lambda row, column: STATED if column == "code" else None)
