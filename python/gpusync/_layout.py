"""The buffer of a barrier, byte by byte what write_image() of include/gpusync/device_layout.hpp writes (a test compares
them)."""

from __future__ import annotations

import struct
from typing import NamedTuple, Sequence

from ._errors import InvalidArgument
from ._numbers import whole

MAX_BLOCKS = 32767
ALIGNMENT = 128

_TAG = int.from_bytes(b"gpusync\x01", "little")
# gpusync::barrier_image: tag, capacity, sm_count; grid::counter_places: lines, plan, partitions, line; words, report; plans.
_HEAD = struct.Struct("<QIIQI4I8I4xQQ4I")
_REPORT = struct.Struct("<Q")
_REPORT_OFFSET = 88
HEADER_BYTES = 128

_LINE_WORDS = 32
_LINES = 8  # of each partition
_COUNTER_WORDS = 2 * _LINES * _LINE_WORDS
_SMS_IN_TURN = 0xAAAAAAAA


class Plan(NamedTuple):
    """gpusync::grid::counter_plan: how the blocks of a grid share counters."""

    sub_counters: int
    copies: int
    partitions: int
    second_warp: int
    poll_backoff: int

    def packed(self) -> int:
        """gpusync::grid::packed_plan."""
        return (
            self.sub_counters.bit_length()
            - 1
            | self.copies.bit_length() - 1 << 2
            | self.partitions - 1 << 4
            | self.second_warp << 5
            | self.poll_backoff << 8
        )


#: gpusync::unplaced_rules: for grids of up to 1, 2, 4 and more blocks per multiprocessor.
UNPLACED = (Plan(2, 1, 2, 0, 200), Plan(2, 1, 2, 0, 225), Plan(2, 1, 2, 0, 225), Plan(4, 2, 2, 0, 325))


def require_servable(blocks: int) -> int:
    """The same number. Raises InvalidArgument if no barrier serves so many blocks."""
    blocks = whole(blocks, "A number of blocks")
    if not 1 <= blocks <= MAX_BLOCKS:
        raise InvalidArgument(f"A placed-counters barrier serves 1 to {MAX_BLOCKS} blocks, not {blocks}.")
    return blocks


def _round_up(words: int) -> int:
    return (words + _LINE_WORDS - 1) // _LINE_WORDS * _LINE_WORDS


def image_bytes(blocks: int) -> int:
    """Bytes of the buffer of a barrier of so many blocks: the head, counters, claim, arrivals and entries, roster."""
    roster = 2 * (1 + (blocks + 31) // 32)
    words = _COUNTER_WORDS + _LINE_WORDS + 2 * _round_up(blocks) + _round_up(roster)
    return HEADER_BYTES + 4 * words


def image(blocks: int, sm_count: int, address: int, report: int, plans: Sequence[Plan] = UNPLACED) -> bytes:
    """The first state of a barrier whose buffer lies at an address of a device of so many multiprocessors."""
    words = address + HEADER_BYTES
    lines = [near | near + _LINES << 16 for near in range(_LINES)]
    packed = [one.packed() for one in plans]
    head = _HEAD.pack(_TAG, blocks, sm_count, words, 0, *[_SMS_IN_TURN] * 4, *lines, words, report, *packed)
    return head.ljust(image_bytes(blocks), b"\0")


def report_address(header: bytes) -> int:
    """Where a barrier's report lies, read from the head of its buffer."""
    address: int = _REPORT.unpack_from(header, _REPORT_OFFSET)[0]
    return address
