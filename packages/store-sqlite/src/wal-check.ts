import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

const HEADER = 32;
const FRAME_HEADER = 24;

/**
 * SQLite takes a damaged WAL frame for the end of the WAL and drops what follows. A crash can only damage the last
 * transaction; damage with a later transaction behind it is bit rot, and starting would lose acknowledged entries.
 */
export function checkWal(databasePath: string): void {
  const path = `${databasePath}-wal`;
  if (!existsSync(path) || statSync(path).size <= HEADER) return;
  const file = openSync(path, 'r');
  try {
    const broken = findBrokenFrame(file);
    if (broken !== undefined) {
      throw new ParleyError(
        'UNAVAILABLE',
        `the write-ahead log is damaged at frame ${broken}; restore a backup or move the -wal file away to start without what it holds`,
      );
    }
  } finally {
    closeSync(file);
  }
}

interface Sums {
  a: number;
  b: number;
}

function findBrokenFrame(file: number): number | undefined {
  const header = read(file, 0, HEADER);
  if (header === undefined) return undefined;
  const magic = header.readUInt32BE(0);
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return undefined;
  const bigEndian = magic === 0x377f0683;
  const pageSize = header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  let sums = checksum(header.subarray(0, 24), bigEndian, { a: 0, b: 0 });
  let broken: number | undefined;
  let commitBehind = false;
  for (let frame = 1; ; frame++) {
    const bytes = read(file, HEADER + (frame - 1) * (FRAME_HEADER + pageSize), FRAME_HEADER + pageSize);
    if (bytes === undefined || !bytes.subarray(8, 16).equals(salts)) return undefined;
    const stored = { a: bytes.readUInt32BE(16), b: bytes.readUInt32BE(20) };
    const expected = checksum(
      bytes.subarray(FRAME_HEADER),
      bigEndian,
      checksum(bytes.subarray(0, 8), bigEndian, sums),
    );
    const sound = stored.a === expected.a && stored.b === expected.b;
    if (!sound && broken !== undefined) return undefined;
    if (sound && commitBehind) return broken;
    if (!sound) broken = frame;
    if (broken !== undefined && bytes.readUInt32BE(4) !== 0) commitBehind = true;
    sums = stored;
  }
}

function read(file: number, at: number, length: number): Buffer | undefined {
  const buffer = Buffer.alloc(length);
  return readSync(file, buffer, 0, length, at) === length ? buffer : undefined;
}

/** SQLite's own WAL checksum: pairs of 32-bit words, in the byte order the header names. */
function checksum(bytes: Buffer, bigEndian: boolean, start: Sums): Sums {
  let { a, b } = start;
  for (let i = 0; i < bytes.length; i += 8) {
    const x = bigEndian ? bytes.readUInt32BE(i) : bytes.readUInt32LE(i);
    const y = bigEndian ? bytes.readUInt32BE(i + 4) : bytes.readUInt32LE(i + 4);
    a = (a + x + b) >>> 0;
    b = (b + y + a) >>> 0;
  }
  return { a, b };
}
