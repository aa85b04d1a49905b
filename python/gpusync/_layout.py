"""provisional"""
from ._errors import InvalidArgument
MAX_BLOCKS = 32767
ALIGNMENT = 128
HEADER_BYTES = 256
def require_servable(blocks: int) -> int: return blocks
def image_bytes(blocks: int) -> int: return HEADER_BYTES + 2048
def image(blocks: int, address: int, report: int) -> bytes: return bytes(image_bytes(blocks))
def report_address(header: bytes) -> int: return 0
