import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { removeFolder, sampleFolder, type SampleRecord, writeSampleRecord } from './sample-record.ts';
import { checkWal } from './wal-check.ts';

const WAL_FILE = `${DATABASE_FILE}-wal`;
const HEADER = 32;
const FRAME = 24 + 4_096;

describe('a write-ahead log', () => {
  let record: SampleRecord;
  let wal: Buffer;
  let frames: number;
  let truth: string[];
  /** The frames that end a transaction. */
  let commits: number[];

  beforeAll(() => {
    record = writeSampleRecord(12);
    wal = readFileSync(join(record.folder, WAL_FILE));
    frames = (wal.length - HEADER) / FRAME;
    commits = Array.from({ length: frames }, (_, i) => i + 1).filter(
      (frame) => wal.readUInt32BE(HEADER + (frame - 1) * FRAME + 4) !== 0,
    );
    truth = revive(wal).entries;
    expect(truth.length).toBeGreaterThan(12);
  });
  afterAll(() => removeFolder(record.folder));

  /** Starts on the database as it was with another write-ahead log. */
  function revive(bytes: Buffer): { entries: string[]; warnings: string[]; healthy: boolean } {
    const folder = sampleFolder();
    try {
      copyFileSync(join(record.folder, DATABASE_FILE), join(folder, DATABASE_FILE));
      writeFileSync(join(folder, WAL_FILE), bytes);
      const warnings: string[] = [];
      const db = openWriter(join(folder, DATABASE_FILE), ({ text }) => warnings.push(text));
      const rows = db.prepare('SELECT json FROM entries ORDER BY pos').all() as { json: string }[];
      db.close();
      return { entries: rows.map(({ json }) => json), warnings, healthy: checkRecord(folder).ok };
    } finally {
      removeFolder(folder);
    }
  }

  function flip(at: number): Buffer {
    const bytes = Buffer.from(wal);
    bytes[at]! ^= 4;
    return bytes;
  }

  const frameAt = (frame: number): number => HEADER + (frame - 1) * FRAME;

  test('[C-DUR-09] [R2] [HUB-E3] cut at every frame boundary and inside frames, it opens to a prefix without a hole', () => {
    const lengths = new Set<number>();
    for (let frame = 0; frame <= frames; frame++) {
      const inside = [5, 24, 1_000, FRAME - 1][(frame / 3) % 4] ?? 0;
      const cuts = [frameAt(frame + 1), Math.min(wal.length, frameAt(frame + 1) + inside)];
      for (const cut of frame % 3 === 0 ? cuts : cuts.slice(0, 1)) {
        const { entries, warnings, healthy } = revive(wal.subarray(0, cut));
        expect(entries).toEqual(truth.slice(0, entries.length));
        expect({ cut, warnings, healthy }).toEqual({ cut, warnings: [], healthy: true });
        lengths.add(entries.length);
      }
    }
    // What one command writes to two threads is there in both or in neither.
    expect([...lengths]).toEqual([0, ...record.lengths]);
  }, 60_000);

  test('[C-DUR-09] cut inside its own header it opens to what the database holds', () => {
    for (const cut of [0, 1, 31, 32]) expect(revive(wal.subarray(0, cut)).entries).toEqual([]);
  });

  test('[C-DUR-08] [R11] a flipped bit before the last transaction is refused by name, wherever in the frame it is', () => {
    const last = commits.at(-2)!;
    const places = {
      page: 0,
      size: 6,
      salt: 9,
      'other salt': 14,
      checksum: 17,
      'other checksum': 22,
      content: 700,
    };
    for (const [place, offset] of Object.entries(places)) {
      for (const frame of [1, 2, Math.ceil(last / 2), last - 1, last]) {
        expect(() => revive(flip(frameAt(frame) + offset)), `${place} of frame ${frame}`).toThrow(
          `damaged at frame ${frame};`,
        );
      }
    }
  });

  test('[C-DUR-08] [R11] a block of zeros before the last transactions is refused by name', () => {
    const bytes = Buffer.from(wal);
    const at = Math.floor(frameAt(5) / 4_096) * 4_096;
    bytes.fill(0, at, at + 4_096);
    expect(() => revive(bytes)).toThrow(/damaged at frame [45];/);
  });

  test('[C-DUR-08] [R11] a flipped bit in the header is refused by name', () => {
    for (let at = 0; at < HEADER; at++) expect(() => revive(flip(at)), `byte ${at}`).toThrow('its header');
  });

  test('[C-DUR-08] [R11] a flipped bit in the last transaction is told, for it may have been acknowledged', () => {
    const first = commits.at(-2)! + 1;
    for (const frame of [first, commits.at(-1)!]) {
      const { entries, warnings } = revive(flip(frameAt(frame) + 700));
      expect(entries).toEqual(truth.slice(0, entries.length));
      expect(warnings).toEqual([expect.stringContaining(`damaged at frame ${frame}`)]);
    }
  });

  test('what an earlier round left behind the end is no damage', () => {
    const folder = sampleFolder();
    // The frames of another round carry other salts, and checksums that began with them.
    const older = Buffer.from(wal);
    for (let frame = 1; frame <= frames; frame++)
      for (const offset of [9, 17]) older[frameAt(frame) + offset]! ^= 255;
    const end = frameAt(commits[10]! + 1);
    writeFileSync(join(folder, WAL_FILE), Buffer.concat([wal.subarray(0, end), older.subarray(end)]));
    expect(checkWal(join(folder, DATABASE_FILE))).toBeUndefined();
    // A transaction that was taken back has the same salts, and no end that was written whole.
    const begun = Buffer.concat([
      wal.subarray(0, end),
      wal.subarray(frameAt(commits[11]! + 1), frameAt(commits[12]!)),
    ]);
    writeFileSync(join(folder, WAL_FILE), begun);
    expect(checkWal(join(folder, DATABASE_FILE))).toBeUndefined();
    removeFolder(folder);
  });
});
