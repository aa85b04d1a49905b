"""Where the figures of docs/concepts.md are from; scripts/figures has the words of this text."""

one = logs("nvidia-h200/barrier-versions.txt", r"^launch 132 x 256 with +1 barriers, graph .*after - cg ([+-][\d.]+)")
says("as a node of a graph it took {} to {} us more than with `cg` in one program", min(one), max(one))
in_graph = record("nvidia-h200/grid-sync", "launch_time")
says("and {} us less in another", in_graph("cg", launched="graph", barriers=1) -
     in_graph("placed-counters-acquire-release", launched="graph", barriers=1))
least, most = (log("nvidia-h200/lost-blocks.txt", rf"^{barrier} .* ([\d.]+) us a step")
               for barrier in ("grid_barrier", "fault_tolerant_barrier, nobody lost"))
says("about {} us more a step; a deadline for each wait", most - least)
