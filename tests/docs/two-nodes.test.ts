import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

import { expect, test } from 'vitest';

import { freshPath } from '../cli/parley.ts';
import { freePort } from '../harness/free-port.ts';
import { startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';
import { blocksOf } from './page.ts';
import { openMachine } from './paste.ts';

describeWith(['postgres', 'nats-server'], 'with PostgreSQL and NATS', (tools) => {
  test('the two nodes on the page of operations start as they are pasted', { timeout: 240_000 }, async () => {
    const block = blocksOf('docs/operations.md').find(({ text }) => text.startsWith('createdb parley\n'));
    const server = await startPostgres();
    const newcomer = openMachine();
    try {
      // Whoever installs a PostgreSQL has a role of the same name as the account.
      await server.query(`CREATE ROLE "${userInfo().username}" LOGIN CREATEDB`);
      const { port } = new URL(server.url);
      const nats = await freePort();
      const kept = freshPath('nats');
      mkdirSync(kept);
      // A second look at both nodes, then the end as the page gives it.
      const more = [
        'cat a.log',
        'THREAD=$(parley thread new "Said at one node" --data ~/parley-a)',
        'parley thread ls --data ~/parley-b',
        'kill $(jobs -p)',
        'wait || true',
      ];
      const { code, output } = await newcomer.paste([block?.text, ...more].join('\n'), {
        env: { PGHOST: '127.0.0.1', PGPORT: port },
        programs: [tools.postgres, tools['nats-server']].map((path) => dirname(path)),
        replaced: {
          'postgres:///parley?host=/var/run/postgresql': `postgres://127.0.0.1:${port}/parley`,
          'nats-server -js': `nats-server -js -sd ${kept} -p ${nats}`,
          'nats://127.0.0.1': `nats://127.0.0.1:${nats}`,
          '--port 8621': '--port 0',
          '--port 8622': '--port 0',
        },
      });
      expect(code, output).toBe(0);
      expect(output).toMatch(/^nodes +1 other, heard by NATS$/m);
      expect(output).toContain('Said at one node');
      // The folder remembers its database: what the node tells people to type is short.
      expect(output).toMatch(/another one: .* --data \S+parley-a link;/);
      expect(output).not.toMatch(/another one: .*--store/);
    } finally {
      await server.close();
    }
  });
});
