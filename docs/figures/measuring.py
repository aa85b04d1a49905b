"""Where figures of docs/measuring.md are from; scripts/figures has the words of this text."""

devices = {"H200": record("nvidia-h200/graph-states", "step_time"), "H100": record("nvidia-h100/graph-states", "step_time")}
histories = {"fast": "clean", "slow": "graph-uploaded"}


def node(row, column):
    if ", " not in column:
        return None
    device, state = column.split(", ")
    method, load = row[0].split(", ")
    return devices[device](method, history=histories[state], stores=int(load != "idle"))


table("| node of 132 x 256 |", node)
fast, slow = (devices["H200"]("graph", history=history, stores=0) for history in ("clean", "graph-uploaded"))
says("In the slow one every idle node takes {} us longer on an H200", slow - fast)

at = {"shape": "132x256"}
four = record("nvidia-h200/grid-barriers-four-shapes", "step_time")
says("A graph passes an empty step of 132 x 256 in {} us and one with stores in flight in {} (", four("graph", stores=0, **at),
     four("graph", stores=1, **at))
older = record("nvidia-h200/grid-barriers", "step_time")
says("an empty step of 132 x 256 takes {} us in", older("graph", stores=0, **at))

# What stops the rounds, and what is told apart, is set by the source.
setting = "what the tool is set to; a test holds it"
states("({} % where steps are timed, {} % with `--quick`; {} and {} % for applications, {} % for calls of objects, {} and {} % "
       "for the thesis)", setting)
states("a timer off by {} % fails these tests", setting)
states("hold the true figure in {} % of cases", setting)
states("all r that it does not reject at {} % (", setting)
states("Less than {} % matters to nobody", setting)
states("are called different in at most {} % of runs, and so are two that differ by more than {} % called the same", setting)
states("judged by their medians with an error of {} IQR", "the formula's")
states("at a level of {} - {} % / rows", setting)
states("if other programs had more than {} % of the processors", setting)
states("in each step another block comes about {} us late", setting)
states("If the two differ by more than {} %, the run says so", setting)
states("phases of a grid of {} to {} times as many blocks", "asked for on the command line")

pocl = "two-cores/false-verdicts.txt"
h200 = "nvidia-h200/false-verdicts.txt"
unclear = logs(h200, r"^pair .* (\d+) unclear")
rows = {logs(h200, r"^pair .* (\d+) same")[i] + unclear[i] for i in range(len(unclear))}.pop()
says("each left {} to {} of {} rows `unclear`, all together {} (", min(unclear), max(unclear), rows,
     log(h200, r"^all pairs .* (\d+) unclear"))
slowed = logs("nvidia-h200/slowed-verdicts.txt", r"^pair .* rows; ([\d.]+) ")
says("had made {} to {} % slower", 100 * min(slowed) - 100, 100 * max(slowed) - 100)
mean = sum(slowed) / len(slowed)
says("these ten ratios scatter by {} %", 100 * (sum((one - mean) ** 2 for one in slowed) / (len(slowed) - 1)) ** 0.5)
