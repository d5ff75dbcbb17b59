import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { loadConfig } from '../config/load.ts';
import { issueToken, type TokenRequest } from './issue-token.ts';
import { folderFiles } from '../state-files/folder-files.ts';
import { changeKeyFile, KEY_FILE, readKeyFile, signingKey } from './key-file.ts';
import { quickToken } from './quick-token.ts';
import { createVerifier } from './verifier.ts';

const DAY_MS = 86_400_000;
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const request: TokenRequest = {
  agent_id: 'ann',
  workspace_id: 'w1',
  role: 'operator',
  session_id: 'ann-cli',
  ttl_ms: 600_000,
};

async function folderWithKey(now = Date.now()) {
  const data = mkdtempSync(join(tmpdir(), 'parley-quick-token-'));
  folders.push(data);
  await signingKey(folderFiles(data), now);
  return loadConfig({ data }, { XDG_CONFIG_HOME: data }).config;
}

test('a token made quickly says what one made by the whole rules says, and the hub takes it', async () => {
  const config = await folderWithKey();
  const now = Date.now();
  const verifier = createVerifier({
    config,
    stateFiles: folderFiles(config.data),
    now: () => now,
    warn: () => {},
  });
  const quick = await verifier.verify(quickToken(config, request, now) ?? '');
  const whole = await verifier.verify((await issueToken(config, request, now)).token);
  expect({ ...quick, jti: '' }).toEqual({ ...whole, jti: '' });
  expect(quick).toMatchObject({
    agent_id: 'ann',
    workspace_id: 'w1',
    role: 'operator',
    session_id: 'ann-cli',
  });
});

test.each([
  ['a name with a space', { agent_id: 'a b' }],
  ['the name of the hub', { agent_id: 'Parley' }],
  ['a workspace that is no name', { workspace_id: '-x' }],
  ['a session that is no name', { session_id: '' }],
  ['an unusual role', { role: 'orchestrator' }],
  ['no role at all', { role: 'king' }],
])('%s is left to the whole rules', async (_what, odd) => {
  const config = await folderWithKey();
  expect(quickToken(config, request, Date.now())).toBeDefined();
  expect(quickToken(config, { ...request, ...odd }, Date.now())).toBeUndefined();
});

test('without a key that may sign, the whole rules decide', async () => {
  const config = await folderWithKey();
  const now = Date.now();
  expect(quickToken(config, request, now + 59 * DAY_MS)).toBeUndefined();
  expect(quickToken(config, request, now - 59 * DAY_MS)).toBeUndefined();
  await changeKeyFile(folderFiles(config.data), (file) => {
    for (const key of file.keys) key.retired_at = new Date(now).toISOString();
  });
  expect(quickToken(config, request, now)).toBeUndefined();
  const retired = readKeyFile(folderFiles(config.data));
  for (const damaged of ['', '{', 'null', '{"keys":3}', '{"keys":[null,7]}', noKey(retired)]) {
    writeFileSync(join(config.data, KEY_FILE), damaged);
    expect(quickToken(config, request, now)).toBeUndefined();
  }
  rmSync(join(config.data, KEY_FILE));
  expect(quickToken(config, request, now)).toBeUndefined();
});

/** A file whose one key is not of the kind that signs. */
function noKey({ keys }: ReturnType<typeof readKeyFile>): string {
  const odd = keys.map(({ retired_at: _gone, ...key }) => ({ ...key, private: { kty: 'oct', k: 'AAAA' } }));
  return JSON.stringify({ keys: odd, revoked: [] });
}
