import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startHub } from '../cli/parley.ts';
import { startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';
import { ROOT } from './page.ts';
import { type Newcomer, openNewcomer } from './paste.ts';

/** A page that needs a hub which is stopped, and a PostgreSQL. */
const MOVING = 'move-to-postgresql.md';

/** What comes out of a page beside what it shows. */
const SEEN: Record<string, RegExp[]> = {
  'accept-my-platforms-tokens.md': [/"agent_id":"robot","workspace_id":"default","role":"worker"/],
  'approve-a-command-for-good.md': [/npm test/],
  'approve-with-a-passkey.md': [/^\w{4}-\w{4}$/m, /There is none\. Add one with/],
  'back-up-and-restore.md': [/monday: .* checked/, /^ok +chain/m],
  'be-told-on-your-phone.md': [/my phone/, /^added webhook-/m],
  'give-another-device-access.md': [/#k=/, /^ +Code +\w{4}-\w{4}$/m],
  'import-documents.md': [/Run `make deploy`/, /guide/],
  'keep-two-groups-apart.md': [/"agent_id":"auditor","workspace_id":"acme"/],
  'leave-an-agent-alone-at-night.md': [/reviewer may be woken again/],
  'revoke-access.md': [/is refused from now on/, /own +in use/],
  'run-it-as-a-service.md': [/^\[Service\]$/m],
  'search-from-the-terminal.md': [/The night build broke on a null nickname\./, /Run make deploy/],
  'see-what-your-agents-did.md': [/"agents":\[/, /^reviewer .*\$0\.004/m],
  'send-a-file.md': [/^a,b$/m, /^http:\/\/127\.0\.0\.1.*art_/m],
  'use-it-behind-caddy-or-nginx.md': [/FORBIDDEN/],
  'use-it-from-a-tablet.md': [/^ +Code +\w{4}-\w{4}$/m, /http:\/\/127\.0\.0\.1:\d+\/docs\/remote$/m],
  'watch-it-with-prometheus.md': [/^parley_store_writable 1$/m],
  'why-was-my-agent-not-woken.md': [/the message waits to be read/],
  'write-a-script-that-follows-a-thread.md': [/"commit":"4f2a9c1"/, /^1$/m],
};

const pages = readdirSync(join(ROOT, 'docs/how-to')).filter((name) => name !== MOVING);

let newcomer: Newcomer;
beforeAll(async () => {
  newcomer = await openNewcomer();
});
afterAll(() => newcomer.hub.stop());

test('every page has something to see', () => {
  expect(pages.filter((name) => !Object.hasOwn(SEEN, name))).toEqual([
    'sign-in-with-your-companys-accounts.md',
  ]);
});

test.each(pages)('docs/how-to/%s works as it is pasted', { timeout: 120_000 }, async (name) => {
  const output = await newcomer.follow(`docs/how-to/${name}`);
  for (const seen of SEEN[name] ?? []) expect(output).toMatch(seen);
});

describeWith(['postgres'], 'with a PostgreSQL', () => {
  test(`docs/how-to/${MOVING} works as it is pasted`, { timeout: 120_000 }, async () => {
    const server = await startPostgres();
    const moving = await openNewcomer();
    try {
      // The role and the database are there already, as the page has them made.
      await server.query('CREATE DATABASE parley');
      const before = 'parley thread new "Before the move"; echo kept > a.txt; parley artifact put a.txt';
      expect((await moving.paste(before)).code).toBe(0);
      await moving.hub.stop();
      const { port } = new URL(server.url);
      const output = await moving.follow(`docs/how-to/${MOVING}`, { env: { PGPORT: port } });
      expect(output).toMatch(/^ok +chain/m);
      expect(output).toMatch(/^ok +artifacts +1, /m);
      const store = `postgres://parley@127.0.0.1:${port}/parley`;
      const folder = join(moving.home, '.local/share/parley');
      await (await startHub(folder, ['--store', store])).stop();
      // The folder remembers its database: nothing but `parley serve` goes on with what was moved, and not with what is left.
      const node = await startHub(folder);
      const after = await moving.paste('parley thread new "After the move"; parley thread ls; parley status');
      expect(after.output).toMatch(/After the move\n.*Before the move\n/);
      expect(after.output).toMatch(/^nodes +no other, heard by PostgreSQL$/m);
      expect(
        (
          await moving.paste(
            'parley artifact get "$(parley artifact ls --json | grep -o "art_[0-9A-Za-z]*" | head -n 1)"',
          )
        ).output,
      ).toContain('kept');
      await node.stop();
    } finally {
      await server.close();
    }
  });
});
