"""How many blocks of a kernel run at once on a GPU, and which resource sets the limit: what
include/gpusync/launch/residency.hpp and cuda_admission.hpp compute, in the same sentences (a test compares them)."""

from __future__ import annotations

from typing import NamedTuple, Sequence, SupportsIndex, Tuple, Union

from ._errors import InvalidArgument, NotCoResident
from ._numbers import shown, whole

Extent = Union[SupportsIndex, Sequence[SupportsIndex]]

WARP = 32


class Sm(NamedTuple):
    """What one streaming multiprocessor has to give."""

    threads: int
    blocks: int
    registers: int
    shared_bytes: int
    reserved_shared_bytes_per_block: int


class Needs(NamedTuple):
    """What one block of a kernel takes."""

    threads: int
    registers_per_thread: int
    shared_bytes: int


class Device(NamedTuple):
    """What launches ask of a device."""

    ordinal: int
    name: str
    sm_count: int
    capability: Tuple[int, int]
    threads_per_block: int
    shared_bytes_per_block: int
    sm: Sm


class Residency(NamedTuple):
    """How many blocks can be resident, and why not more."""

    sm_count: int
    blocks_per_sm: int
    limited_by: Tuple[str, ...]

    @property
    def blocks(self) -> int:
        """The most blocks that run at once."""
        return self.sm_count * self.blocks_per_sm

    def limits_in_words(self) -> str:
        """The causes: "threads per SM and registers"."""
        if not self.limited_by:
            return "named barriers, or another resource that the runtime counts and does not name"
        *first, last = self.limited_by
        return f"{', '.join(first)} and {last}" if first else last


def extent(size: Extent) -> Tuple[int, int, int]:
    """A grid or a block in three dimensions: a number, or one to three of them."""
    if isinstance(size, (str, bytes)):
        raise InvalidArgument(f"A grid and a block are whole numbers, not {shown(size)}.")
    try:
        sizes: Sequence[SupportsIndex] = tuple(size)  # type: ignore[arg-type]
    except TypeError:  # one number, or nothing that a grid can be
        sizes = (size,)  # type: ignore[assignment]
    if not 1 <= len(sizes) <= 3:
        raise InvalidArgument(f"A grid and a block have one to three dimensions; this one has {len(sizes)}.")
    numbers = tuple(whole(one, "A dimension of a grid or a block") for one in sizes)
    for one in numbers:
        if one < 0:
            raise InvalidArgument(f"Given was {one} as a size. Sizes are not negative.")
    x, y, z = (numbers + (1, 1))[:3]
    return x, y, z


def count(size: Extent) -> int:
    """Blocks of a grid, or threads of a block."""
    x, y, z = extent(size)
    return x * y * z


def _round_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


def limits_by_resource(sm: Sm, needs: Needs) -> Tuple[Tuple[str, float], ...]:
    """Blocks that each single resource of an SM would allow."""
    warps = max(1, _round_up(needs.threads, WARP) // WARP)
    registers_per_warp = _round_up(max(needs.registers_per_thread, 1) * WARP, 256)
    warps_by_registers = sm.registers // 4 // registers_per_warp * 4
    shared = _round_up(needs.shared_bytes + sm.reserved_shared_bytes_per_block, 128)
    return (
        ("threads per SM", sm.threads // (warps * WARP)),
        ("registers", warps_by_registers // warps),
        ("shared memory", sm.shared_bytes // shared if shared else float("inf")),
        ("blocks per SM", sm.blocks),
    )


def explain(sm_count: int, blocks_per_sm: int, sm: Sm, needs: Needs) -> Residency:
    """Explains an occupancy that the driver has reported: names every resource that would allow no more blocks."""
    limited_by = tuple(name for name, limit in limits_by_resource(sm, needs) if limit <= blocks_per_sm)
    return Residency(sm_count, blocks_per_sm, limited_by)


def require_co_resident(found: Residency, device: str, blocks: int, needs: Needs) -> None:
    """Raises NotCoResident, with the limit and its cause, if more blocks are asked for than run at once."""
    if blocks <= found.blocks:
        return
    block = f"{needs.threads} threads"
    if found.blocks_per_sm == 0:
        raise NotCoResident(
            f"Not one block of {block} of this kernel fits on an SM of {device}: it takes "
            f"{needs.registers_per_thread} registers per thread and {needs.shared_bytes} bytes of shared memory "
            f"(limited by {found.limits_in_words()}). Use smaller blocks or less shared memory.",
            blocks,
            0,
        )
    raise NotCoResident(
        f"{blocks} blocks of {block} cannot all run at once on {device}: at most {found.blocks} ({found.sm_count} SMs x "
        f"{found.blocks_per_sm} block{'' if found.blocks_per_sm == 1 else 's'}; limited by "
        f"{found.limits_in_words()}). Use fewer blocks.",
        blocks,
        found.blocks,
    )


def check_shape(device: Device, blocks: int, threads: int, shared: int) -> None:
    """Raises InvalidArgument for a shape that no launch on this device can have."""
    if blocks == 0 or threads == 0:
        raise InvalidArgument(
            f"A launch needs at least one block of one thread; it was given {blocks} blocks of {threads} threads."
        )
    if threads > device.threads_per_block:
        raise InvalidArgument(
            f"A block of {threads} threads is more than {device.name} allows: at most {device.threads_per_block}."
        )
    if shared < 0:
        raise InvalidArgument(f"Given was {shared} as a size. Sizes are not negative.")
    if shared > device.shared_bytes_per_block:
        raise InvalidArgument(
            f"A block with {shared} bytes of dynamic shared memory is more than {device.name} allows: at most "
            f"{device.shared_bytes_per_block}, the kernel's static memory included."
        )
