import { rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';
import { runConformance } from './run-conformance.ts';

describeWith(['conformance', 'node22'], 'the official MCP conformance suite', () => {
  let hub: HubProcess;
  let token = '';

  beforeAll(async () => {
    hub = await startHub({ settings: { 'mcp.conformance': true } });
    ({ token } = await issueToken({ agent: 'suite' }, { data: hub.data }));
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    rmSync(dirname(hub.data), { recursive: true, force: true });
  });

  test.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ] as const)(
    '[C-MCP-02] revision %s: all %i scored scenarios pass, behind the real token and guards',
    { timeout: 120_000 },
    async (revision, count) => {
      const results = await runConformance({ url: `${hub.url}/mcp`, revision, token });
      const scored = results.filter((result) => result.scored);
      const failed = scored.filter((result) => !result.passed);
      expect(failed.map(({ scenario, failures }) => ({ scenario, failures }))).toEqual([]);
      expect(scored).toHaveLength(count);
    },
  );
});
