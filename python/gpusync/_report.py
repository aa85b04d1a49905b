"""What a kernel leaves behind when a wait timed out or a barrier was misused, in the sentences of
include/gpusync/core/missing_block.hpp and misuse.hpp (a test compares them)."""

from __future__ import annotations

import struct
from typing import List, NamedTuple, Tuple

from ._errors import MissingBlock

# gpusync::timeout_report, 16 words, and the list behind it.
_HEAD = struct.Struct("<16I")
_TIMED_OUT, _ABANDONED = 1, 2
_STARTED = 1 << 31
_CAPACITY_OFFSET = 24

_NAMED = 4

# gpusync::misuse: {who} is the block, {detail} the number that belongs to it.
_OUTSIDER = 1
_MISUSES = {
    _OUTSIDER: "{who} called a barrier of {detail} blocks that does not join it. Let only members call it, or make a "
    "larger storage.",
    2: "{who} waited without a deadline at a barrier of which a phase had been given up: it would have waited for "
    "ever. Leave the kernel after a time-out, and call reset() on the storage before its next launch.",
    3: "{who} arrived again before it had waited for its last arrival: it would be counted for a block that is still "
    "missing. Give each arrival's token to wait() before the next one.",
    4: "{who} gave a token to wait() that had been waited for, or moved from. A token is good for one wait.",
    5: "{who} used a barrier beside a view of some of its warps, or made such a view after its first use. Make the "
    "view first, and use the view alone.",
    6: "{who} called a barrier again that it had left with arrive_and_drop().",
    7: "{who} gave wait() a token of another barrier. A token belongs to the barrier whose arrive() has given it.",
    9: "{who} made a view of {detail} threads: a view is of whole warps of the block, at least one, and of one only "
    "without a named barrier.",
}


class Report(NamedTuple):
    """gpusync::timeout_report."""

    written: int
    phase: int
    reason: int
    culprit: int
    detail: int
    capacity: int
    missing: Tuple[MissingBlock, ...]

    def __bool__(self) -> bool:
        return self.written != 0 or self.reason != 0


def size(blocks: int) -> int:
    """Bytes of a report on a grid of up to so many blocks."""
    return _HEAD.size + 4 * blocks


def fresh(blocks: int) -> bytes:
    """The bytes of one in which nothing has happened."""
    return _HEAD.pack(0, 0, 0, 0, 0, 0, blocks, *[0] * 9) + bytes(4 * blocks)


def parse(data: bytes) -> Report:
    """Reads one; of a list that is longer than the bytes, what is there."""
    written, phase, count, reason, culprit, detail, capacity, *_ = _HEAD.unpack_from(data)
    missing: List[MissingBlock] = []
    if written == _TIMED_OUT:
        count = min(count, (len(data) - _HEAD.size) // 4)
        for entry in struct.unpack_from(f"<{count}I", data, _HEAD.size):
            missing.append(MissingBlock(entry & ~_STARTED, phase, entry & _STARTED != 0))
    return Report(written, phase, reason, culprit, detail, capacity, tuple(missing))


def misuse_in_words(reason: int, block: int, detail: int) -> str:
    """The sentence for what a block has done; empty if it has done nothing."""
    if reason == 0:
        return ""
    words = _MISUSES.get(reason, "{who} ended the kernel for reason " + str(reason) + " (see gpusync::misuse).")
    return words.format(who=f"Block {block}", detail=detail)


def _missing_in_words(missing: Tuple[MissingBlock, ...]) -> str:
    if not missing:
        return ""
    names = [f"{one.block}{'' if one.started else ' (not seen in that launch)'}" for one in missing[:_NAMED]]
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return f", missing block {', '.join(names)}{more}"


def in_words(report: Report) -> str:
    """What a report says, in a sentence or two; empty if nothing happened."""
    sentences = []
    if report.written == _ABANDONED:
        sentences.append(
            "A launch on this barrier ended in the middle of a phase, because one of its blocks threw. Call reset() on "
            "its storage first."
        )
    elif report.written == _TIMED_OUT:
        sentences.append(
            f"A wait on this barrier timed out in phase {report.phase} of an earlier launch"
            f"{_missing_in_words(report.missing)}, so its count is in the middle of a phase. Call reset() on its storage "
            "first."
        )
    too_many = report.reason == _OUTSIDER and report.detail > report.capacity
    sentences.append(
        misuse_in_words(report.reason, report.culprit, report.capacity if too_many else report.detail)
    )
    return " ".join(one for one in sentences if one)
