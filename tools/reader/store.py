"""A store file: sections, blocks, bitmaps (5, 6.8), and its rows over all families (6.1, 6.6).

It is verified as a whole when it is opened, and each block again where it is read. Cells are lazy:
who does not walk them does not pay for them.
"""
import collections
import heapq
import struct

from files import STORE, File
from primitives import (MEBIBYTE, UNSUPPORTED, Bytes, Refused, check, decompress, hash64, hash128,
                        row_hash, same, up)
from records import table_record
from rows import CHUNK, HEAD, PIECE, ROWS, row_block, wide_row

SCHEMA, DICTIONARY, DATA, BLOCK_INDEX, KEY_HASHES = 1, 2, 3, 4, 5
LEAVES, POSTINGS, DIRECTORY, PRESENT, DIGESTS, PRESENCE = 8, 9, 10, 11, 14, 15
BLOCK_KINDS = {1: 14, 2: 7, 4: 5, 5: 8, 8: 11, 9: 13, 10: 12, 11: 9, 14: 16, 15: 9}  # By section.
TABLE_BLOCK = 17
KEYS_OWNER = 255

Block = collections.namedtuple('Block', 'kind flags count first data offset size end where')
Section = collections.namedtuple('Section', 'kind flags owner offset size count checksum')


class Store(File):
    def __init__(self, directory, database_id, entry):
        super().__init__(directory, f'store-{entry["number"]}', STORE, entry['number'])
        self.entry = entry
        same(self.name, 'ids and size', (database_id, entry['id'], entry['size']),
             (self.database, self.id, self.size))
        self.read_sections()
        same(self.name, 'XXH3-128 of the file', int.from_bytes(entry['hash'], 'little'),
             hash128(self.view(0, self.size)))
        block, = self.blocks(SCHEMA)
        reader = Bytes(block.data, block.where)
        reader.bytes()  # The start key of the region that wrote the file.
        self.table = table_record(reader.rest(), block.where)
        self.row_count = self.sections[DATA, 0, 0].count
        same(self.name, 'rows', entry['rows'], self.row_count)
        self.hashes = []
        for block in self.blocks(KEY_HASHES):
            same(block.where, 'first', len(self.hashes), block.first)
            self.hashes += Bytes(block.data, block.where).unpack(f'{block.count}Q')
        same(self.name, 'key hashes', self.row_count, len(self.hashes))

    def read_sections(self):
        tables = []
        for offset in (self.size - 128, self.size - 64):
            magic, size, *fields, number, zero, checksum = struct.unpack('<8sQQQIIQQQ',
                                                                         self.bytes(offset, 64))
            where = f'{self.name} at {offset}'
            same(where, 'footer', (b'\x89FOOTER\n', self.size, self.number, 0),
                 (magic, size, number, zero))
            same(where, 'checksum', checksum, self.checksum(offset, 56, offset))
            tables.append(fields)
        same(self.name, 'second footer', tables[0], tables[1])
        first, second, table_size, count = tables[0]
        copies = [self.block(offset, (TABLE_BLOCK,), self.size) for offset in (first, second)]
        for i, copy in enumerate(copies):
            same(copy.where, 'section table', (i, count, table_size, copies[0].data),
                 (copy.first, copy.count, copy.size, copy.data))
        same(self.name, 'place of the second table', up(first + table_size, self.alignment), second)
        same(self.name, 'place of the footer', up(second + table_size, 8), self.size - 128)
        self.sections, end = {}, 128
        reader = Bytes(copies[0].data, copies[0].where)
        for _ in range(count):
            section = Section(*reader.unpack('HxxIIxxxxQQQQ'))
            where = f'{self.name} at {section.offset}: section {section.kind}'
            key = section.kind, section.owner, section.flags & 1
            same(where, 'offset', up(end, self.alignment), section.offset)
            end = section.offset + section.size
            check(section.size % 8 == 0 and end <= first and key not in self.sections, where,
                  'size or kind')
            found = hash64(self.view(section.offset, section.size))
            same(where, 'checksum', section.checksum, found)
            self.sections[key] = section
        reader.end()

    def block(self, offset, kinds, limit):
        where = f'{self.name} at {offset}'
        checksum, stored, raw, kind, codec, flags, count, first, zero = struct.unpack(
            '<QIIBBHIII', self.bytes(offset, 32))
        check(stored <= 16 * MEBIBYTE + 65536 and raw <= 16 * MEBIBYTE and offset % 8 == 0
              and offset + 32 + stored <= limit, where, f'a block of {stored} bytes')
        same(where, 'checksum', checksum, self.checksum(offset + 8, 24 + stored, offset))
        if codec > 1:
            raise Refused(UNSUPPORTED, f'{where}: codec {codec} is unknown')
        check(kind in kinds and zero == 0, where, f'a block of kind {kind}')
        data = self.bytes(offset + 32, stored)
        if codec:
            data = decompress(data, raw, where)
        same(where, 'raw size', raw, len(data))
        end = up(offset + 32 + stored, 8)
        return Block(kind, flags, count, first, data, offset, 32 + stored, end, where)

    def blocks(self, kind, owner=0, older=0):
        section = self.sections.get((kind, owner, older))
        check(section, self.name, f'section {kind} of {owner} is missing')
        offset, end = section.offset, section.offset + section.size
        while offset < end:
            block = self.block(offset, (BLOCK_KINDS[kind],), end)
            yield block
            offset = block.end

    def stream(self, kind, owner=0, older=0):
        data = b''
        for i, block in enumerate(self.blocks(kind, owner, older)):
            same(block.where, 'place in the stream', (i, 32768 * i), (block.first, len(data)))
            data += block.data
        count = self.sections[kind, owner, older].count
        same(self.name, f'stream of section {kind}', count, len(data))
        return data

    def bitmap(self, kind, owner):
        """The ordinals whose bits are set (6.8)."""
        section = self.sections[kind, owner, 0]
        if section.flags & 10:
            return range(self.row_count if section.flags & 2 else 0)
        ones, bits = [], 0
        for block in self.blocks(kind, owner):
            same(block.where, 'first bit', bits, block.first)
            reader, words = Bytes(block.data, block.where), -(-block.count // 64)
            data, begin = reader.take(8 * words), len(ones)
            set_bits = [8 * i + bit for i, byte in enumerate(data) if byte
                        for bit in range(8) if byte >> bit & 1]
            check(all(bit < block.count for bit in set_bits), block.where, 'bits behind the count')
            ones += [bits + bit for bit in set_bits]
            ranks = [begin + int.from_bytes(data[:64 * i], 'little').bit_count()
                     for i in range(-(-words // 8))]
            same(block.where, 'ranks', ranks, list(reader.unpack(f'{len(ranks)}I')))
            reader.end()
            bits += block.count
        same(self.name, f'bits and ones of section {kind}', (self.row_count, section.count),
             (bits, len(ones)))
        return ones

    # Rows of one owner and of all (6.1, 6.5, 6.6).

    def dictionary(self, family):
        first, second = self.blocks(DICTIONARY, family)
        same(first.where, 'second dictionary', (first.count, first.data),
             (second.count, second.data))
        reader = Bytes(first.data, first.where)
        names = [reader.bytes() for _ in range(first.count)]
        reader.end()
        return names

    def block_index(self, owner):
        """Offset, stored size, position of the first row and separator of each entry."""
        entries = []
        for piece in self.blocks(BLOCK_INDEX, owner):
            same(piece.where, 'first entry', len(entries), piece.first)
            reader, count = Bytes(piece.data, piece.where), piece.count
            prefix_length = reader.number(2)
            reader.zero(6)
            heads, offsets = reader.unpack(f'{count}Q'), reader.unpack(f'{count}Q')
            sizes, firsts, ends = (reader.unpack(f'{count}I') for _ in range(3))
            prefix, begin = reader.take(prefix_length), 0
            for i in range(count):
                check(ends[i] >= begin, piece.where, 'key ends fall')
                rest, begin = reader.take(ends[i] - begin), ends[i]
                same(piece.where, 'head', int.from_bytes(rest[:8].ljust(8, b'\0'), 'big'), heads[i])
                entries.append((offsets[i], sizes[i], firsts[i], prefix + rest))
            reader.end()
        same(self.name, f'block index of {owner}', self.sections[BLOCK_INDEX, owner, 0].count,
             len(entries))
        return entries

    def data_block(self, offset, *kinds):
        data = self.sections[DATA, 0, 0]
        check(offset >= data.offset, self.name, f'{offset} is before the data section')
        return self.block(offset, kinds, data.offset + data.size)

    def owner_rows(self, owner):
        """Ordinal, owner, key and lazy cells of the rows of a family, or of the keys."""
        names = [] if owner == KEYS_OWNER else self.dictionary(owner)
        partial = (PRESENCE, owner, 0) in self.sections
        ordinals = self.bitmap(PRESENCE, owner) if partial else range(self.row_count)
        entries = self.block_index(owner)
        ends = [first for _, _, first, _ in entries[1:]] + [len(ordinals)]
        next_position, last_key = 0, b''
        for (offset, size, first, separator), end in zip(entries, ends):
            block = self.data_block(offset, ROWS, HEAD)
            same(block.where, 'size, first and rows', (size, first, next_position, end - first),
                 (block.size, block.first, first, block.count))
            rows = wide_row(self, block) if block.kind == HEAD else row_block(self, block, names)
            check(separator > last_key, block.where, 'separator is not above the key before')
            for key, cells in rows:
                check(separator <= key and key > last_key, block.where, 'order of keys')
                ordinal, last_key = ordinals[next_position], key
                same(block.where, 'row hash', self.hashes[ordinal],
                     row_hash(key, self.table['secret']))
                next_position += 1
                yield ordinal, owner, key, cells
        same(self.name, f'rows of owner {owner}', len(ordinals), next_position)

    def owners(self):
        """Ids of the families that the file has."""
        return [family['id'] for family in self.table['families']
                if (BLOCK_INDEX, family['id'], 0) in self.sections]

    def rows(self):
        """Ordinal, family record, key and lazy cells: by ordinal, then family id."""
        families = {family['id']: family for family in self.table['families']}
        last, last_key = -1, b''
        owners = [self.owner_rows(owner) for owner in self.owners()]
        for ordinal, owner, key, cells in heapq.merge(*owners, key=lambda row: row[:2]):
            holds = key == last_key if ordinal == last else ordinal == last + 1 and key > last_key
            check(holds, self.name, f'key of ordinal {ordinal}')
            last, last_key = ordinal, key
            yield ordinal, families[owner], key, cells
        same(self.name, 'rows', self.row_count, last + 1)

    def keys(self):
        """The key of every row, from the key carrier (6.1)."""
        whole = [f for f in self.owners() if (PRESENCE, f, 0) not in self.sections]
        carrier = min(whole, default=KEYS_OWNER)
        same(self.name, 'whether the keys stand alone', not whole,
             (BLOCK_INDEX, KEYS_OWNER, 0) in self.sections)
        return [key for _, _, key, _ in self.owner_rows(carrier)]
