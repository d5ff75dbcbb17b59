import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { rowsOf, sqliteModule } from './sqlite.ts';

test('rows can be read however long somebody takes: their statement stays', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const db = new (sqliteModule().DatabaseSync)(':memory:');
  db.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)');
  const rows = rowsOf(db.prepare<{ a: number }>('SELECT a FROM t'));
  const read = [rows.next().value?.a];
  for (let i = 0; i < 5; i++) {
    collect();
    await pause(10);
  }
  for (const { a } of rows) read.push(a);
  expect(read).toEqual([1, 2, 3]);
  db.close();
});
