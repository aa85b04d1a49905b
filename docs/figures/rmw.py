"""Where figures of docs/rmw.md are from; scripts/figures has the words of this text."""

faults = record("nvidia-h200/rmw-faults", "most_passes")
policies = {"cas": ("cas", {}), "cas128": ("cas128", {}), "coalesced_store, global": ("coalesced-store", {"memory": "global"}),
            "coalesced_store, shared": ("coalesced-store", {"memory": "shared"})}


def bound(row, column):
    """Constants of the type, as runs with faults have recorded them; of other N and of bytes there is no record."""
    method, axes = policies[row[0]]
    if column == "passes":
        return max(faults.values(method, "passes_bound", **axes))
    if row[1] == "16":
        if column == "accesses to memory, at most":
            return max(faults.values(method, "accesses_bound", participants=16, **axes))
        return STATED if column in ("N", "bytes") else None
    return None


table("| policy, state of 4 bytes | N |", bound, rows=policies)
says("on an H200 {} ([`rmw-faults.json`]", max(faults.values()))
states("| `cas<>` | {} | {} bytes |", "limits, which compile or do not")
states("| `cas<publication::tagged, 16>` | {} | {} bytes |", "limits, which compile or do not")
states("| `cas<publication::ordered>` | {} | {} bytes |", "limits, which compile or do not")
states("| `cas128<>` | {} | {} bytes |", "limits, which compile or do not")
states("in half a line ({} of {} words, item H9)", "how the words lie")
states("holds {} records and takes {} MB;", "a size that follows from the type: the table's bytes")

says("with up to {} states (`coalesced_store`, 2", log("two-cores/explorer.txt", r"^rmw\.coalesced_store_of_2: 2 participants, 3 calls each, "
                                                     r"8 bytes \(.* (\d+) states"))
searches = {"2 blocks, 2 phases, with": "of_2_with_its_object", "2 blocks, 4": "of_2", "2 blocks, 3": "of_2_stale",
            "3 blocks, 1 phase": "of_3", "3 blocks, 1 phase, stale": "of_3_stale"}


def states_of(row, column):
    name = next((searches[begin] for begin in sorted(searches, key=len, reverse=True) if row[0].startswith(begin)), None)
    if column != "states" or name is None:
        return None
    return log("two-cores/explorer.txt", rf"^{name} \(.* (\d+) states")


table("| search | states |", states_of)
