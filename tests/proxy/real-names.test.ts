import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { MessagesRequest, MessagesStep } from '@parley/runtimes';
import { expect, onTestFinished, test } from 'vitest';

import { startClaudeTeam } from '../mail/claude-team.ts';
import { describeWith } from '../tools/describe-with.ts';
import { errorOf, startProxy, until } from './proxy-client.ts';

const HIRE = 'HIRE-CAROL';
const HIRED = 'toolu_carol';

/** A lead that hires one more teammate once it is told to. */
function lead({ body }: MessagesRequest): MessagesStep[] {
  const said = JSON.stringify(body.messages);
  if (!said.includes(HIRE) || said.includes(HIRED)) return [{ text: 'ok' }];
  const input = { description: 'hire carol', prompt: 'wait', name: 'carol', run_in_background: true };
  return [{ use: 'Agent', input: { ...input, subagent_type: 'general-purpose' }, id: HIRED }];
}

describeWith(['claude'], 'the team of a real Claude Code', ({ claude }) => {
  test(
    'its lead and its teammates keep their names, and a session of a killed proxy gets its own back',
    { timeout: 240_000 },
    async () => {
      const claudes = await startClaudeTeam(claude, lead);
      const { home, team } = claudes;
      const members = () => readFileSync(join(home, '.claude/teams', team, 'config.json'), 'utf8');
      const place = { root: home, home, work: home, log: '', remove: async () => {} };
      const start = async () => {
        const proxy = await startProxy({ place, args: ['--team', team] });
        onTestFinished(() => proxy.kill('SIGKILL').then(() => {}));
        return proxy;
      };
      const proxy = await start();
      for (const identity of ['bob', 'Bob', 'team-lead'])
        expect(await errorOf(proxy.call('codex', { prompt: 'say hi', identity }))).toMatchObject({
          code: -32_001,
          data: { error_name: 'IDENTITY_CONFLICT', identity },
        });
      expect((await errorOf(proxy.call('atm_read', { identity: 'bob' }))).code).toBe(-32_001);
      await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
      await until(() => members().includes(`arch@${team}`));
      // Claude Code writes the list anew, and keeps what it does not know.
      await claudes.say(HIRE);
      await until(() => members().includes(`carol@${team}`));
      await proxy.kill('SIGKILL');
      expect(members()).toContain(`arch@${team}`);
      const after = await start();
      const again = await after.call('codex', { prompt: 'say hi', identity: 'arch' });
      expect(again.structuredContent['identity']).toBe('arch');
      expect((await errorOf(after.call('codex', { prompt: 'say hi', identity: 'carol' }))).code).toBe(
        -32_001,
      );
    },
  );
});
