"""Where the figures of docs/device-header.md are from; scripts/figures has the words of this text."""

# What functions return.
table("| `int gpusync_…", lambda row, column: STATED if column == "returns" and row[2] == "0" else None)
