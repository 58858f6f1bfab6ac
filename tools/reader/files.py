"""What all files have in common: the header (4), the seed of a place (3), chains of frames (10)."""
import ctypes
import mmap
import os
import struct

from primitives import DAMAGE, MASK, MEBIBYTE, UNSUPPORTED, Refused, check, hash64, same, up

ROOT, MANIFEST, LOG, STORE = 1, 2, 3, 4


class File:
    def __init__(self, directory, name, kind, number):
        self.name = name
        try:
            with open(os.path.join(directory, name), 'rb') as file:
                self.size = os.fstat(file.fileno()).st_size
                check(self.size >= 128, name, f'{self.size} bytes, too short for a header')
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except FileNotFoundError:
            raise Refused(DAMAGE, f'{name}: corrupt: it is named, but missing') from None
        (magic, self.kind, alignment, version, size, _, _, incompatible, self.database, self.number,
         self.id, zero, checksum) = struct.unpack('<8sBBHIQQQ16sQ16s40sQ', self.bytes(0, 128))
        check(magic == b'\x89TANDEM\n', name, 'this is no file of Tandem')
        same(name, 'checksum of the header', checksum, hash64(self.bytes(0, 120)))
        if version != 1 or incompatible:
            raise Refused(UNSUPPORTED,
                          f'{name}: version {version}, incompatible features {incompatible:#x}')
        same(name, 'kind, number and size of the header', (kind, number, 128),
             (self.kind, self.number, size))
        check(3 <= alignment <= 20 and not any(zero), name, 'alignment or zeros of the header')
        self.alignment = 1 << alignment
        self.id_hash = hash64(self.id)

    def bytes(self, offset, size):
        check(0 <= size <= self.size - offset, self.name, f'{size} bytes at {offset} pass the end')
        return self.map[offset:offset + size]

    def view(self, offset, size):
        return (ctypes.c_char * size).from_buffer(self.map, offset) if size else b''

    def checksum(self, offset, size, place):
        """Of bytes of a structure at `place`, with the place seed (3)."""
        return hash64(self.bytes(offset, size), self.id_hash ^ place * 0x9E3779B97F4A7C15 & MASK)

    def frames(self, offset, previous, last, gaps):
        """Payloads of the frames from `offset` to the end; last checksum and last sequence."""
        frames = []
        while offset < self.size:
            where = f'{self.name} at {offset}'
            checksum, before, first, durable, _, length, count = struct.unpack(
                '<QQQQqII', self.bytes(offset, 48))
            check(length <= 65 * MEBIBYTE, where, f'a frame of {length} bytes')
            same(where, 'checksum', checksum, self.checksum(offset + 8, 40 + length, offset))
            same(where, 'previous checksum', previous, before)
            check(first > last and (gaps or first == last + 1) and durable < first, where,
                  f'sequence {first}, durable {durable}, after {last}')
            frames.append(self.bytes(offset + 48, length))
            behind = offset + 48 + length
            end = up(behind, 8)
            check(not any(self.bytes(behind, end - behind)), where, 'padding')
            offset, previous, last = end, checksum, first + max(count, 1) - 1
        return frames, previous, last
