import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { type CrashHub, startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { runCli } from '../harness/run-cli.ts';
import { sitDown } from '../supervisor/person.ts';
import { describeWith } from '../tools/describe-with.ts';
import { processesOf } from './managed-scene.ts';
import { openClaudePlace } from './runtime-places.ts';
import { callerOf, hubServerAt, PATIENT, WORKSPACE } from './supervised-scene.ts';

const SETTINGS = { 'wake.recheck_ms': 100, 'wake.proof_ms': 60_000 };
const PROMPT = /^❯\s*$/m;

/** A Claude Code whose only way in is its inbox, which its MCP server knows; or its hook, where that leaves the inbox alone. */
async function openClaude(hub: CrashHub, agent: string, door: string) {
  const server = await hubServerAt(hub, agent);
  const hidden = door === 'command' ? {} : { PARLEY_SUPERVISED: '1' };
  const place = await openClaudePlace({ ...server, env: { ...server.env, ...hidden } });
  onTestFinished(() => place.close());
  if (door === 'command') return place;
  const words = ['init', 'claude', '--agent', agent, '--workspace', WORKSPACE, '--print', '--json'];
  const { stdout } = await runCli(words, { data: hub.folder });
  const { hooks } = JSON.parse(stdout) as { hooks: Record<string, unknown> };
  writeFileSync(join(place.home, 'settings.json'), JSON.stringify({ hooks }));
  return place;
}

/** By its hook, which waits again after the turn, and by its inbox, which only its own MCP child knows. */
const DOORS = [
  ['hooked', 'claude_hook'],
  ['bob', 'command'],
] as const;

describeWith(['claude'], 'a Claude Code that somebody has open', () => {
  test(
    '[HUB-M9] [HUB-W7] woken by its hook or by its inbox: a half-typed draft stays, also over a hub that was killed',
    { timeout: 240_000 },
    async () => {
      const folder = temporaryFolder();
      let hub = await startHub(folder, { settings: SETTINGS });

      async function open([agent, door]: (typeof DOORS)[number]) {
        const place = await openClaude(hub, agent, door);
        const env = { ...place.env, TERM: 'xterm-256color' };
        const program = [place.bin, '--permission-mode', 'default', ...place.args];
        const person = await sitDown(program, { env, cwd: place.place.work });
        await person.sees(PROMPT);
        const alice = await callerOf(() => hub, agent);
        person.type('half typed');
        await person.sees(/❯\shalf typed/);
        return { door, place, person, alice };
      }

      async function isWoken({ door, person, alice }: Awaited<ReturnType<typeof open>>, body: string) {
        const before = (await alice.answers()).length;
        const message = await alice.say(body);
        // The hook may be about to wait, or the turn before about to end.
        await expect
          .poll(async () => (await alice.trigger().catch(() => undefined))?.result, PATIENT)
          .toMatch(/^(queued|delivered|deferred|skipped)$/);
        await expect.poll(async () => (await alice.answers()).length, PATIENT).toBe(before + 1);
        await expect
          .poll(() => alice.woken(message), PATIENT)
          .toContainEqual(expect.objectContaining({ door, result: 'delivered', proof: 'runtime_record' }));
        expect((await person.screen()).join('\n')).toMatch(/❯\shalf typed\s*$/m);
      }

      const all = await Promise.all(DOORS.map(open));
      await Promise.all(all.map((one) => isWoken(one, 'is the mapper done?')));
      await hub.end('SIGKILL');
      hub = await startHub(folder, { settings: SETTINGS, port: Number(new URL(hub.url).port) });
      await Promise.all(all.map((one) => isWoken(one, 'and the tests?')));
      for (const { person, place } of all) {
        person.signal('SIGKILL');
        // What waits beside it goes with its session.
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
      }
    },
  );
});
