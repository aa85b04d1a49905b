"""Where the figures of docs/results.md are from; scripts/figures has the words of this text."""

setting = "what the tool is set to"
states("hold the true value in {} % of cases", setting)
states("and its `interval`, at {} % for all variants together", setting)
states("both must be the same within {} %", setting)
