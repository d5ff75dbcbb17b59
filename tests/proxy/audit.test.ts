import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { errorOf } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const path = (): string => join(place().home, '.config/atm/agent-sessions/default/audit.jsonl');
const lines = (): Record<string, string>[] =>
  readFileSync(path(), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);

test('[C-PROXY-35] [FR-9.2] [FR-9.3] [NFR-3] two proxies of a team write whole lines into one log, without secrets', async () => {
  const proxies = [await start({ args: ['--identity', 'a'] }), await start({ args: ['--identity', 'b'] })];
  const agents = await Promise.all(
    proxies.map(
      async (proxy) => (await proxy.call('codex', { prompt: 'say hi' })).structuredContent.agent_id,
    ),
  );
  const prompt = `say hi\nwith sk-${'s'.repeat(20)} ${'x'.repeat(300)}`;
  await Promise.all(
    proxies.map(async (proxy, i) => {
      for (let n = 1; n < 100; n++) await proxy.call('codex-reply', { agent_id: agents[i], prompt });
    }),
  );
  const all = lines();
  expect(all).toHaveLength(200);
  for (const [i, identity] of ['a', 'b'].entries()) {
    const own = all.filter((line) => line['identity'] === identity);
    expect(own).toHaveLength(100);
    expect(own[0]).toMatchObject({ tool: 'codex', agent_id: agents[i], summary: 'say hi' });
    for (const { tool, agent_id, timestamp = '', summary = '' } of own.slice(1)) {
      expect([tool, agent_id]).toEqual(['codex-reply', agents[i]]);
      expect(new Date(timestamp).toISOString()).toBe(timestamp);
      expect(summary.length).toBe(200);
      expect(summary).not.toContain('ssss');
    }
  }
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test('[C-PROXY-36] what cannot be put on record is not done; with space again it is', async () => {
  mkdirSync(dirname(path()), { recursive: true });
  symlinkSync('/dev/full', path());
  const proxy = await start();
  expect(await errorOf(proxy.call('codex', { prompt: 'say hi' }))).toMatchObject({
    code: -32_603,
    data: { error_name: 'AUDIT_FAILED' },
  });
  expect(proxy.received()).toEqual([]);
  expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([]);
  rmSync(path());
  expect((await proxy.call('codex', { prompt: 'say hi' })).isError).toBeUndefined();
  expect(lines()).toHaveLength(1);
});
