"""Where the figures of docs/report.md are from; scripts/figures has the words of this text."""

states("makes no difference now (up to {} %)", "what the tool is set to")
