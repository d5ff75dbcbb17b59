import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const KILLS = 8;
const SESSIONS = 300;
const AT_ONCE = 25;

interface Saved {
  version: number;
  sessions: { agent_id: string; backend_id: string; identity: string }[];
}

test(
  '[FR-5.5] [NFR-2] [C-PROXY-30] [FR-5.3] three hundred sessions, eight kills at any moment: the registry is whole, and knows whoever was told of',
  { timeout: 300_000 },
  async () => {
    const folder = join(place().home, '.config/atm/agent-sessions/default/codex');
    const registry = (): Saved => JSON.parse(readFileSync(join(folder, 'registry.json'), 'utf8')) as Saved;
    const reported = new Set<string>();
    let begun = 0;
    for (let kill = 0; kill <= KILLS; kill++) {
      const isLast = kill === KILLS;
      const proxy = await start({ args: ['--set', `max_concurrent_threads=${SESSIONS}`] });
      const round = isLast ? SESSIONS - begun : Math.ceil(SESSIONS / (KILLS + 1));
      let left = round;
      const work = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          begun += 1;
          const answer = await proxy.call('codex', { prompt: 'say hi', identity: `s${begun}` });
          reported.add(answer.structuredContent.agent_id);
        }
      };
      const working = Promise.allSettled(Array.from({ length: AT_ONCE }, work));
      if (isLast) {
        await working;
        break;
      }
      // Anywhere from the first session to the last.
      const before = reported.size;
      while (reported.size === before) await sleep(1);
      await sleep(Math.random() * 300);
      left = 0;
      await proxy.kill('SIGKILL');
      await working;
      const { version, sessions } = registry();
      expect(version).toBe(1);
      const known = new Set(sessions.map(({ agent_id }) => agent_id));
      for (const agent of reported) expect(known).toContain(agent);
    }
    expect(reported.size).toBeGreaterThan(SESSIONS / 2);
    expect(registry().sessions.length).toBeGreaterThanOrEqual(reported.size);
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
  },
);
