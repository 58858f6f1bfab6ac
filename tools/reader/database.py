"""A closed database: ROOT (13), the manifest's catalog (12) and the log (11).

Opening it verifies every file that ROOT reaches. It is refused when it was not closed cleanly.
"""
import fcntl
import os
import re
import struct

from files import LOG, MANIFEST, ROOT, File
from primitives import (BUSY, NOT_CLOSED, NOT_FOUND, UNSUPPORTED, Bytes, Refused, check, hash64,
                        same)
from records import EDIT, TABLE, record, table_record
from store import Store

ROOT_BYTES, SLOT_BYTES, SLOTS = 12288, 4096, (4096, 8192)
BEING_CREATED_BYTES_MAX = 256
OPEN, CLOSED = 1, 2


class Database:
    """`tables` and `regions` are records by id, `stores` open files by number."""

    def __init__(self, path):
        self.path = path
        manifest, segments = self.read_root()
        self.read_manifest(manifest)
        self.check_catalog(segments)
        self.read_log(segments)
        self.stores = {number: Store(path, self.root.id, entry)
                       for number, entry in self.files.items()}

    # ROOT.

    def read_root(self):
        """The bound files of manifest and segments."""
        if not os.path.exists(os.path.join(self.path, 'ROOT')):
            raise Refused(NOT_FOUND, f'{self.path}: no database (there is no ROOT)')
        others = [name for name in os.listdir(self.path)
                  if re.fullmatch(r'(manifest|log|store|dead)-(0|[1-9][0-9]*)', name)]
        try:
            self.root = File(self.path, 'ROOT', ROOT, 0)
            slots = self.root_slots()
        except Refused as refused:
            if others or refused.code == UNSUPPORTED:
                raise
            raise Refused(NOT_FOUND, f'{self.path}: no database, {refused}') from None
        _, state, (manifest, *segments) = max(slots)
        if manifest[0] == 0:
            begun = others in ([], ['manifest-1']) and self.sizes(others) <= BEING_CREATED_BYTES_MAX
            check(begun, 'ROOT', f'it is being created beside {others}')
            raise Refused(NOT_FOUND, f'{self.path}: a crash ended the creation')
        if state == OPEN:
            self.refuse_open()
        if state != CLOSED:
            raise Refused(UNSUPPORTED, f'ROOT: state {state} is unknown')
        newest_log = max((segment[0] for segment in segments), default=0)
        self.refuse_newer(others, {'manifest': manifest[0], 'log': newest_log})
        return manifest, segments

    def refuse_newer(self, names, newest):
        """Files above those that ROOT binds prove that it is an old copy (19)."""
        for prefix, number in (name.split('-') for name in names):
            check(prefix not in newest or int(number) <= newest[prefix], 'ROOT',
                  f'it is older than {prefix}-{number}')

    def sizes(self, names):
        return sum(os.path.getsize(os.path.join(self.path, name)) for name in names)

    def root_slots(self):
        """Generation, state and bound files of each slot that verifies."""
        root, found = self.root, []
        same('ROOT', 'size and database id', (ROOT_BYTES, root.id), (root.size, root.database))
        check(not any(root.bytes(128, SLOTS[0] - 128)), 'ROOT', 'zeros behind the header')
        for offset in SLOTS:
            reader = Bytes(root.bytes(offset, SLOT_BYTES), f'ROOT at {offset}')
            if reader.number(8) != root.checksum(offset + 8, SLOT_BYTES - 8, offset):
                continue
            generation, _, _, state = reader.unpack('QQQB')
            reader.zero(3)
            count = reader.number(4)
            check(count <= 100 and (count == 0 or state != OPEN), reader.where, f'{count} segments')
            found.append((generation, state, [reader.unpack('Q16sQQ') for _ in range(1 + count)]))
            reader.zero(reader.left())
        check(found, 'ROOT', 'neither slot verifies')
        return found

    def refuse_open(self):
        """A writer at work holds the lock of the directory; after a crash nobody does."""
        directory = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(BUSY, f'{self.path}: another process has it open for writing') from None
        finally:
            os.close(directory)
        raise Refused(NOT_CLOSED, f'{self.path}: not closed cleanly; open it once with tandem')

    def bound_file(self, prefix, kind, bound):
        """The file that ROOT binds; its chain must end with the checksum given there."""
        number, file_id, length, _ = bound
        file = File(self.path, f'{prefix}-{number}', kind, number)
        same(file.name, 'ids and size', (self.root.id, file_id, length),
             (file.database, file.id, file.size))
        return file

    # The manifest.

    def read_manifest(self, bound):
        file = self.bound_file('manifest', MANIFEST, bound)
        previous = int.from_bytes(file.bytes(120, 8), 'little')
        payloads, checksum, _ = file.frames(128, previous, 0, gaps=False)
        same(file.name, 'last checksum', bound[3], checksum)
        self.tables, self.files, self.regions, self.segments = {}, {}, {}, {}
        for i, payload in enumerate(payloads):
            self.apply(record(payload[24:], EDIT, f'{file.name}, edit {i + 1}'))

    def apply(self, edit):
        self.counters = (edit['counters'] or [self.counters])[0]
        self.tables.update({table['id']: table for table in edit['put_tables']})
        remove(self.tables, edit['remove_tables'])
        self.files.update({file['number']: file for file in edit['add_files']})
        self.regions.update({region['id']: region for region in edit['put_regions']})
        remove(self.regions, edit['remove_regions'])
        remove(self.files, edit['remove_files'])
        self.segments.update({segment['number']: segment for segment in edit['add_segments']})
        remove(self.segments, edit['remove_segments'])

    def check_catalog(self, bound_segments):
        where = 'catalog'
        newest = [(segment['number'], segment['id']) for segment in self.segments.values()][-100:]
        same(where, 'newest segments', newest, [bound[:2] for bound in bound_segments])
        for file in self.files.values():
            check(file['table'] in self.tables, where, f'table of file {file["number"]}')
        for region in self.regions.values():
            for reference in region['references']:
                file = self.files.get(reference['file'])
                holds = file and file['table'] == region['table'] and (
                    reference['low'] <= reference['high'] <= file['rows'])
                check(holds, where, f'region {region["id"]}: reference to file {reference["file"]}')
        for table in self.tables:
            bounds = [(region['start'], region['end']) for region in self.regions_of(table)]
            covered = [b''] + [end for _, end in bounds] == [start for start, _ in bounds] + [b'']
            check(bounds and covered, where, f'the regions of table {table} leave gaps or overlap')

    def regions_of(self, table):
        """By start key."""
        return sorted((region for region in self.regions.values() if region['table'] == table),
                      key=lambda region: region['start'])

    # The log, of which a clean close leaves nothing but a header.

    def read_log(self, bound_segments):
        last = None
        for bound in bound_segments:
            file = self.bound_file('log', LOG, bound)
            length, checksum, sequence, own = struct.unpack('<QQQQ', file.bytes(128, 32))
            same(file.name, 'checksum of the header', own, hash64(file.bytes(0, 152)))
            check(last in (None, (length, checksum, sequence)), file.name, 'its predecessor')
            payloads, checksum, sequence = file.frames(160, own, sequence, gaps=True)
            same(file.name, 'last checksum', bound[3], checksum)
            if payloads:
                raise Refused(NOT_CLOSED, f'{file.name}: operations that are in no store file')
            last = file.size, checksum, sequence


def remove(entries, keys):
    for key in keys:
        check(entries.pop(key, None), 'manifest', f'{key} is removed, but was not there')
