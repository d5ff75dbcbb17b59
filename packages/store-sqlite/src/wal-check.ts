import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

const HEADER = 32;
const FRAME_HEADER = 24;

/**
 * SQLite takes a damaged WAL frame for the end of the WAL and drops what follows, and a damaged header for an empty
 * WAL. A crash can only damage the last transaction: damage before it is bit rot, and starting would lose entries
 * that were acknowledged. Returns a warning where the last transaction itself is damaged, for then nobody can tell.
 */
export function checkWal(databasePath: string): string | undefined {
  const path = `${databasePath}-wal`;
  if (!existsSync(path) || statSync(path).size <= HEADER) return undefined;
  const file = openSync(path, 'r');
  try {
    const damage = findDamage(file);
    // A hub that is writing meanwhile moves on; damage stays where it is.
    if (damage === undefined || findDamage(file)?.place !== damage.place) return undefined;
    if (!damage.lost) {
      return `the last transaction of the write-ahead log is damaged at ${damage.place} and was dropped: it was not acknowledged if the hub or the power failed in it, and is lost if the disk did`;
    }
    throw new ParleyError(
      'UNAVAILABLE',
      `the write-ahead log is damaged at ${damage.place}; restore a backup or move the -wal file away to start without what it holds`,
    );
  } finally {
    closeSync(file);
  }
}

interface Sums {
  a: number;
  b: number;
}

interface Damage {
  place: string;
  /** A whole transaction stands behind it, so what is damaged was synced once. */
  lost: boolean;
}

function findDamage(file: number): Damage | undefined {
  const header = read(file, 0, HEADER) ?? Buffer.alloc(HEADER);
  const bigEndian = header.readUInt32BE(0) === 0x377f0683;
  const start = checksum(header.subarray(0, 24), bigEndian, { a: 0, b: 0 });
  // The header is synced before the first frame is written: with frames behind it, it was once whole.
  if (!equal(start, sumsAt(header, 24))) return { place: 'its header', lost: true };
  const salts = header.subarray(16, 24);
  const size = FRAME_HEADER + header.readUInt32BE(8);
  /** Where the next frame's checksum may go on from: what the last frame says, or what it should say. */
  let before: Sums[] = [start];
  let ours = true;
  let broken: number | undefined;
  let ended = false;
  for (let frame = 1; ; frame++) {
    const bytes = read(file, HEADER + (frame - 1) * size, size);
    if (bytes === undefined) break;
    const salted = bytes.subarray(8, 16).equals(salts);
    const stored = sumsAt(bytes, 16);
    const expected: Sums[] = salted || ours ? before.map((sums) => frameSums(bytes, bigEndian, sums)) : [];
    const linked = expected.some((sums) => equal(sums, stored));
    const commits = bytes.readUInt32BE(4) !== 0;
    if (!salted || !linked) broken ??= frame;
    else if (commits && ended) return { place: `frame ${broken}`, lost: true };
    ours = salted || linked;
    if (broken !== undefined && ours && commits) ended = true;
    before = linked ? [stored] : [stored, ...expected.slice(0, 1)];
  }
  return ended ? { place: `frame ${broken}`, lost: false } : undefined;
}

function frameSums(bytes: Buffer, bigEndian: boolean, before: Sums): Sums {
  return checksum(bytes.subarray(FRAME_HEADER), bigEndian, checksum(bytes.subarray(0, 8), bigEndian, before));
}

function read(file: number, at: number, length: number): Buffer | undefined {
  const buffer = Buffer.alloc(length);
  return readSync(file, buffer, 0, length, at) === length ? buffer : undefined;
}

function sumsAt(bytes: Buffer, at: number): Sums {
  return { a: bytes.readUInt32BE(at), b: bytes.readUInt32BE(at + 4) };
}

function equal(one: Sums, other: Sums): boolean {
  return one.a === other.a && one.b === other.b;
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
