"""What everything in a Tandem database is made of: primitives (2), hashes (3), compression (5.1).

Numbers in parentheses are chapters of docs/format.md. Relies on libxxhash.so.0 and libzstd.so.1.
"""
import ctypes
import struct

NOT_FOUND, DAMAGE, NOT_CLOSED, BUSY, UNSUPPORTED = 3, 4, 5, 6, 7
MEBIBYTE = 1 << 20
MASK = (1 << 64) - 1


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def check(holds, where, what):
    if not holds:
        raise Refused(DAMAGE, f'{where}: corrupt: {what}')


def same(where, what, expected, found):
    check(expected == found, where, f'{what}: expected {expected}, found {found}')


def up(number, step):
    return -(-number // step) * step


class Hash128(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]


XXH = ctypes.CDLL('libxxhash.so.0')
ZSTD = ctypes.CDLL('libzstd.so.1')
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
for function, arguments, result in (
        (XXH.XXH3_64bits_withSeed, [POINTER, SIZE, ctypes.c_uint64], ctypes.c_uint64),
        (XXH.XXH3_64bits_withSecret, [POINTER, SIZE, POINTER, SIZE], ctypes.c_uint64),
        (XXH.XXH3_128bits, [POINTER, SIZE], Hash128),
        (ZSTD.ZSTD_decompress, [POINTER, SIZE, POINTER, SIZE], SIZE),
        (ZSTD.ZSTD_findFrameCompressedSize, [POINTER, SIZE], SIZE)):
    function.argtypes, function.restype = arguments, result


def hash64(data, seed=0):
    return XXH.XXH3_64bits_withSeed(data, len(data), seed)


def hash128(data):
    found = XXH.XXH3_128bits(data, len(data))
    return found.high << 64 | found.low


def row_hash(key, secret):
    return XXH.XXH3_64bits_withSecret(key, len(key), secret, len(secret))


def decompress(data, size, where):
    check(ZSTD.ZSTD_findFrameCompressedSize(data, len(data)) == len(data), where, 'zstd frame')
    raw = ctypes.create_string_buffer(size)
    same(where, 'decompressed size', size, ZSTD.ZSTD_decompress(raw, size, data, len(data)))
    return raw.raw


class Bytes:
    """Reads a byte string from front to back. To read past its end is damage."""

    def __init__(self, data, where):
        self.data, self.where, self.at = data, where, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        check(count <= self.left(), self.where, f'{count} bytes expected, {self.left()} left')
        self.at += count
        return self.data[self.at - count:self.at]

    def unpack(self, form):
        return struct.unpack('<' + form, self.take(struct.calcsize('<' + form)))

    def number(self, size):
        return int.from_bytes(self.take(size), 'little')

    def zero(self, count):
        check(not any(self.take(count)), self.where, 'bytes that must be zero are not')

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.number(1)
            value |= (byte & 127) << 7 * i
            if byte < 128:
                check((byte or i == 0) and value <= MASK, self.where, 'varint')
                return value
        raise Refused(DAMAGE, f'{self.where}: corrupt: varint of more than ten bytes')

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def bytes(self):
        return self.take(self.varint())

    def rest(self):
        return self.take(self.left())

    def end(self):
        check(self.left() == 0, self.where, f'{self.left()} bytes too many')


def signed(value):
    return ((value & MASK) ^ 1 << 63) - (1 << 63)
