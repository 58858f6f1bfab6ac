"""Cells: of row blocks (6.2), of wide rows (6.3), and their far values (6.4).

A row is its key and a generator of its cells, which reads the file only as far as it is walked.
"""
import collections

from primitives import MASK, MEBIBYTE, Bytes, check, hash64, row_hash, same, signed

ROWS, CHUNK, HEAD, PIECE = 1, 2, 3, 4
CELL_KINDS = ('put', 'delete-cell', 'delete-column', 'delete-family')
FAR_BYTES_MIN, FAR_BYTES_MAX = 65537, 16 * MEBIBYTE

Cell = collections.namedtuple('Cell', 'qualifier timestamp sequence kind value')


def cell_order(cell):
    """As 6.2 sorts the cells of a family: markers of the family, qualifier, newest first."""
    return (cell.qualifier is not None, cell.qualifier or b'', -cell.timestamp, -cell.sequence,
            cell.kind)


def far_value(store, reference, before):
    """The value that the bytes of a reference lead to; its blocks end at or before `before`."""
    length, offset, value_hash = reference.varint(), reference.varint(), reference.number(8)
    reference.end()
    check(FAR_BYTES_MIN <= length <= FAR_BYTES_MAX, reference.where, f'far value of {length} bytes')
    pieces = []
    for i in range(-(-length // MEBIBYTE)):
        piece, size = store.data_block(offset, PIECE), min(MEBIBYTE, length - i * MEBIBYTE)
        same(piece.where, 'piece of a far value', (i, size, size),
             (piece.first, piece.count, len(piece.data)))
        check(piece.end <= before, piece.where, 'a far value behind its cell')
        pieces.append(piece.data)
        offset = piece.end
    value = b''.join(pieces)
    same(reference.where, 'hash of a far value', value_hash, hash64(value))
    return value


class CellReader:
    """The cells that stand in `reader`. Their columns are read by `column(reader)`; a timestamp or
    sequence that all of them share is given, otherwise None."""

    def __init__(self, store, block, base, column):
        self.store, self.block, self.column = store, block, column
        self.base_timestamp, self.base_sequence = base

    def cells(self, reader, timestamp=None, sequence=None):
        one_timestamp, one_sequence = timestamp is not None, sequence is not None
        qualifier, last = None, None
        while reader.left():
            flags = reader.number(1)
            kind = flags & 7
            check(kind < len(CELL_KINDS) and not flags & 128 and (kind == 0 or not flags & 64),
                  reader.where, f'cell flags {flags}')
            if kind != 3 and not flags & 8:
                qualifier = self.column(reader)
                check(len(qualifier) <= 2048, reader.where, 'length of a qualifier')
            if not one_timestamp and not flags & 16:
                timestamp = self.base_timestamp + reader.varint()
            if not one_sequence and not flags & 32:
                sequence = self.base_sequence + reader.varint()
            check(None not in (timestamp, sequence) and (kind == 3 or qualifier is not None),
                  reader.where, 'a first cell that refers to a cell before')
            value = reader.bytes() if kind == 0 else None
            if flags & 64:
                value = far_value(self.store, Bytes(value, reader.where), self.block.offset)
            cell = Cell(qualifier, signed(timestamp), sequence & MASK, kind, value)
            check(last is None or cell_order(last) < cell_order(cell), reader.where,
                  'order of cells')
            last = cell
            yield cell


def row_block(store, block, names):
    """The rows of a row block (6.2)."""
    def column(reader):
        name = reader.varint()
        check(name <= len(names), reader.where, f'column {name} of {len(names)}')
        return names[name - 1] if name else reader.bytes()

    reader = Bytes(block.data, block.where)
    cells = CellReader(store, block, reader.unpack('qQ'), column)
    prefix_length = reader.number(2)
    reader.zero(6)
    heads, slots = reader.unpack(f'{block.count}Q'), reader.unpack(f'{block.count + 1}I')
    prefix = reader.take(prefix_length)
    same(block.where, 'first and last slot', (reader.at, len(block.data)), (slots[0], slots[-1]))
    for i in range(block.count):
        check(slots[i] <= slots[i + 1], block.where, 'slots fall')
        row = Bytes(reader.take(slots[i + 1] - slots[i]), f'{block.where}, row {i}')
        length = row.varint()
        head = heads[i].to_bytes(8, 'big')
        check(not any(head[length:]), row.where, 'a head longer than its key')
        key = prefix + head[:length] + row.take(max(length - 8, 0))
        check(1 <= len(key) <= 65535, row.where, f'a key of {len(key)} bytes')
        flags = row.number(1)
        check(flags < 16, row.where, f'row flags {flags}')
        timestamp = cells.base_timestamp + row.varint() if flags & 1 else None
        sequence = cells.base_sequence + row.varint() if flags & 2 else None
        yield key, cells.cells(row, timestamp, sequence)


def wide_row(store, block):
    """The one row of a head (6.3)."""
    reader = Bytes(block.data, block.where)
    base = reader.unpack('qQ')
    key_hash, cell_count, byte_count, first_chunk, chunk_count, fence_count, marker_count = (
        reader.unpack('QQQQIII'))
    key_length, stride, zero = reader.unpack('HBB')
    same(block.where, 'fences', (-(-chunk_count // (1 << stride)), 0), (fence_count, zero))
    fences = [reader.unpack('QqQII') for _ in range(fence_count)]
    names = reader.take(fences[-1][4] if fences else 0)
    key = reader.take(key_length)
    same(block.where, 'key hash', key_hash, row_hash(key, store.table['secret']))
    expected = []  # Of every 2^stride-th chunk: offset, stored size, its first cell.
    for i, (offset, timestamp, sequence, size, end) in enumerate(fences):
        begin = fences[i - 1][4] if i else 0
        expected.append((offset, size, (names[begin:end], timestamp, sequence)))

    def cells():
        for _ in range(marker_count):
            timestamp, sequence = base[0] + reader.varint(), base[1] + reader.varint()
            yield Cell(None, signed(timestamp), sequence & MASK, 3, None)
        reader.end()
        totals = [0, 0]
        for number, chunk in enumerate(chunks(store, first_chunk, block, chunk_count)):
            for i, cell in enumerate(chunk_cells(store, chunk, number, key_hash)):
                if i == 0 and number % (1 << stride) == 0:
                    same(chunk.where, 'fence', expected[number >> stride],
                         (chunk.offset, chunk.size, cell[:3]))
                totals[0] += 1
                totals[1] += len(cell.qualifier) + len(cell.value or b'')
                yield cell
        same(block.where, 'cells and bytes', [cell_count, byte_count], totals)

    yield key, cells()


def chunks(store, offset, head, count):
    """The chunks from `offset` up to the head; value blocks between them are stepped over."""
    found = 0
    while count and offset < head.offset:
        block = store.data_block(offset, CHUNK, PIECE)
        offset = block.end
        if block.kind == CHUNK:
            same(block.where, 'position of the row', head.first, block.first)
            found += 1
            yield block
    same(head.where, 'chunks', count, found)
    check(not count or offset == head.offset, head.where, 'chunks pass their head')


def chunk_cells(store, chunk, number, key_hash):
    last_name, name_bytes = b'', 0

    def column(reader):
        nonlocal last_name, name_bytes
        shared = reader.varint()
        check(shared <= len(last_name), reader.where, f'{shared} bytes shared')
        last_name = last_name[:shared] + reader.bytes()
        name_bytes += len(last_name)
        return last_name

    reader = Bytes(chunk.data, chunk.where)
    base = reader.unpack('qQ')
    same(chunk.where, 'key hash and number', (key_hash, number), reader.unpack('QI'))
    stated_bytes, count = reader.number(4), 0
    for cell in CellReader(store, chunk, base, column).cells(reader):
        check(cell.kind != 3, chunk.where, 'a DeleteFamily in a chunk')
        count += 1
        yield cell
    same(chunk.where, 'cells and bytes of names', (chunk.count, stated_bytes), (count, name_bytes))
