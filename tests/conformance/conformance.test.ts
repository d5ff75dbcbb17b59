import { afterAll, beforeAll, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { startFixtureHub } from './fixture-hub.ts';
import { runConformance } from './run-conformance.ts';

describeWith(['conformance', 'node22'], 'the official MCP conformance suite before the MCP face', () => {
  let hub: Awaited<ReturnType<typeof startFixtureHub>>;

  beforeAll(async () => {
    hub = await startFixtureHub();
  });
  afterAll(() => hub.close());

  test.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ] as const)(
    '[C-MCP-02] revision %s: all %i scored scenarios pass, behind the real token and guards',
    { timeout: 120_000 },
    async (revision, count) => {
      const results = await runConformance({ url: `${hub.url}/mcp`, revision, token: hub.token });
      const scored = results.filter((result) => result.scored);
      const failed = scored.filter((result) => !result.passed);
      expect(failed.map(({ scenario, failures }) => ({ scenario, failures }))).toEqual([]);
      expect(scored).toHaveLength(count);
    },
  );
});
