import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { openIndex } from '../../packages/search/src/open-index.ts';
import { describeAsRoot, mountSmallDisk } from './as-root.ts';

const SOURCE = new URL('../../packages/search/src/open-index.ts', import.meta.url).href;

describeAsRoot('an index on a full disk', () => {
  test('is not thrown away for want of room', () => {
    const disk = mountSmallDisk(1024 * 1024);
    const path = join(disk, 'search.db');
    // By a process that has ended: what its connections share is gone with it.
    const source = `import { openIndex } from ${JSON.stringify(SOURCE)};
      const db = openIndex(${JSON.stringify(path)});
      db.exec("INSERT INTO workspaces (name) VALUES ('kept'); PRAGMA wal_checkpoint(TRUNCATE)");`;
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source]);
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    const filler = join(disk, 'filler');
    expect(() => {
      for (;;) writeFileSync(filler, Buffer.alloc(4_096), { flag: 'a' });
    }).toThrow('ENOSPC');
    expect(() => openIndex(path)).toThrow();
    rmSync(filler);
    const again = openIndex(path);
    expect(again.prepare('SELECT name FROM workspaces').all()).toEqual([{ name: 'kept' }]);
    again.close();
  });
});
