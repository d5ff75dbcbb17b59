import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type AgentTerminal, ASKS, prepareClaude, prepareCodex, SLOW } from './agent-terminals.ts';
import { HASTY, type Managed, manage } from './managed.ts';

const AGENTS: [name: string, prepare: () => Promise<AgentTerminal>, prompt: RegExp][] = [
  ['Codex', () => prepareCodex('codex'), /^› Ask Codex/m],
  ['Codex 0.153.4', () => prepareCodex('codex-0153'), /^› Ask Codex/m],
  ['Claude Code', prepareClaude, /^❯\s*$/m],
];
const PATIENT = ['--quiet', '500ms', '--recheck', '100ms', '--max-defer', '60s'];
const LONG = { timeout: 120_000 };

describeWith(['codex', 'codex-0153', 'claude'], 'real agents at their terminals', () => {
  const scene = useHub();

  for (const [name, prepare, prompt] of AGENTS) {
    const begin = async (options = HASTY): Promise<AgentTerminal & Managed> => {
      const agent = await prepare();
      const managed = await manage(scene, agent.program, { env: agent.env, cwd: agent.cwd, options });
      await managed.person.sees(prompt);
      // Codex draws its input line anew, empty, once it knows its model.
      const screen = async () => (await managed.person.screen()).join('\n');
      await vi.waitFor(async () => expect(await screen()).not.toMatch(/model:\s+loading/), 40_000);
      return { ...agent, ...managed };
    };
    /** Presses Enter, as a person does: again, when the program was not ready for it. */
    const enter = (agent: AgentTerminal & Managed, heard: string[]): Promise<void> =>
      vi.waitFor(
        async () => {
          agent.person.type('\r');
          await vi.waitFor(() => expect(agent.heard()).toEqual(heard), { timeout: 4_000 });
        },
        { timeout: 40_000 },
      );
    const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 40_000 });

    test(`${name}: what is delivered is a turn, word for word, and never a command`, LONG, async () => {
      const agent = await begin();
      const reported = await agent.deliver('You have mail: please read thread 7.');
      expect(reported).toMatchObject({ result: 'submitted', altered: [] });
      expect(reported.evidence.slice(0, 3)).toEqual(['typed', 'seen', 'entered']);
      await eventually(() => expect(agent.heard()).toEqual(['You have mail: please read thread 7.']));

      const long = Array.from({ length: 60 }, (_, i) => `point ${i}: ${'word '.repeat(18)}`.trim()).join(
        '\n',
      );
      expect(await agent.deliver(long)).toMatchObject({ result: 'submitted' });
      await eventually(() => expect(agent.heard().at(-1)).toContain(long));

      writeFileSync(join(agent.cwd, 'README.md'), 'read me');
      const commands: [text: string, heard: string][] = [
        ['!touch made', 'Message: !touch made'],
        ['/quit', 'Message: /quit'],
        ['exit', 'Message: exit'],
        ['\u001b[201~\r!touch made\r', '[201~\n!touch made'],
        ['have a look at @README.md', 'have a look at @README.md .'],
      ];
      for (const [text, heard] of commands) {
        expect(await agent.deliver(text), text).toMatchObject({ result: 'submitted' });
        await eventually(() => expect(agent.heard().at(-1)).toContain(heard));
      }
      expect(existsSync(join(agent.cwd, 'made'))).toBe(false);
    });

    test(`${name}: a half-typed draft survives, and the text comes after it`, LONG, async () => {
      const agent = await begin(PATIENT);
      agent.person.type('half typed');
      await agent.person.sees(/[›❯]\shalf typed/);
      await vi.waitFor(
        async () =>
          expect(await agent.deliver('You have mail.', { delivery_id: 'd', wait_ms: 0 })).toMatchObject({
            result: 'deferred',
            defer_reason: 'human_input_busy',
            detail: 'a draft stands at the prompt',
          }),
        { timeout: 40_000 },
      );
      expect((await agent.person.screen()).join('\n')).toMatch(/[›❯]\shalf typed\s*$/m);
      agent.person.type(' and finished');
      await agent.person.sees('half typed and finished');
      await enter(agent, ['half typed and finished']);
      expect(await agent.deliver('You have mail.', { delivery_id: 'd' })).toMatchObject({
        result: 'submitted',
      });
      await eventually(() => expect(agent.heard().slice(1)).toEqual(['You have mail.']));
    });

    test(`${name}: a busy one gets it after its turn`, LONG, async () => {
      const agent = await begin(PATIENT);
      agent.person.paste(`${SLOW} work`);
      await agent.person.sees(`${SLOW} work`);
      await enter(agent, [`${SLOW} work`]);
      await vi.waitFor(
        async () =>
          expect(await agent.deliver('When you have time.', { delivery_id: 'd', wait_ms: 0 })).toMatchObject({
            defer_reason: 'working',
          }),
        { timeout: 40_000 },
      );
      await vi.waitFor(
        async () =>
          expect(await agent.boss.ok('get_agent', { of_agent: agent.agent })).toMatchObject({
            state: 'working',
          }),
        { timeout: 40_000 },
      );
      expect(agent.heard()).toHaveLength(1);
      agent.finish();
      expect(await agent.deliver('When you have time.', { delivery_id: 'd' })).toMatchObject({
        result: 'submitted',
      });
      await eventually(() => expect(agent.heard().slice(1)).toEqual(['When you have time.']));
    });

    test(`${name}: one that waits for an answer does not get one by accident`, LONG, async () => {
      const agent = await begin(PATIENT);
      agent.person.paste(ASKS);
      await agent.person.sees(ASKS);
      await enter(agent, [ASKS]);
      await agent.person.sees(/1\. Yes/);
      await vi.waitFor(
        async () =>
          expect(await agent.deliver('yes, do it', { delivery_id: 'd', wait_ms: 0 })).toMatchObject({
            result: 'deferred',
            defer_reason: 'blocked',
          }),
        { timeout: 40_000 },
      );
      await vi.waitFor(
        async () =>
          expect(await agent.boss.ok('get_agent', { of_agent: agent.agent })).toMatchObject({
            state: 'needs_you',
          }),
        { timeout: 40_000 },
      );
      const operator = { mode: 'force', operator: 'boss', audit: { reason: 'to try' } };
      expect(
        await agent.deliver('yes, do it', { delivery_id: 'f', wait_ms: 500, ...operator }),
      ).toMatchObject({
        result: 'deferred',
        defer_reason: 'blocked',
      });
      expect(await agent.ask('terminal_cancel', { delivery_id: 'f' })).toEqual({ cancelled: true });
      agent.person.type('\u001b');
      expect(await agent.deliver('yes, do it', { delivery_id: 'd' })).toMatchObject({ result: 'submitted' });
      expect(existsSync(join(agent.cwd, 'made'))).toBe(false);
    });
  }
});
