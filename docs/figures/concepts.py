"""Where the figures of docs/concepts.md are from; scripts/figures has the words of this text."""

one = logs("nvidia-h200/barrier-versions.txt", r"^launch 132 x 256 with +1 barriers, graph .*after - cg ([+-][\d.]+)")
says("as a node of a graph it takes {} to {} us more than with `cg`", min(one), max(one))
least, most = (log("nvidia-h200/lost-blocks.txt", rf"^{barrier} .* ([\d.]+) us a step")
               for barrier in ("grid_barrier", "fault_tolerant_barrier, nobody lost"))
says("about {} us more a step; a deadline for each wait", most - least)
