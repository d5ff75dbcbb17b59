import type { OutputOf } from '@parley/protocol';
import { expect, onTestFinished, test } from 'vitest';

import { startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { clientOf, ok } from '../faults/hub-client.ts';
import { runJson } from '../harness/run-cli.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deskOf, MANAGED, runManaged } from './managed-scene.ts';
import { callerOf, PATIENT, WORKSPACE } from './supervised-scene.ts';

type Usage = OutputOf<'get_usage'>;

const LONG = { timeout: 240_000 };
/** What the scripted model says that each request used. */
const [READ, WROTE] = [10, 5];

describeWith(['codex', 'codex-0153', 'claude'], 'what the turns of a managed session used', () => {
  for (const [name, prepare] of MANAGED)
    test(`${name}: the runtime's own counts arrive turn by turn, by agent and by thread`, LONG, async () => {
      const folder = temporaryFolder();
      const hub = await startHub(folder, { settings: { 'wake.recheck_ms': 100 } });
      const place = await prepare();
      onTestFinished(() => place.close());
      const run = await runManaged(hub, 'bob', place);
      const alice = await callerOf(() => hub, 'bob');
      const desk = await deskOf(() => hub, 'bob');
      const token = await tokenFor(folder, 'ann', { role: 'operator' });
      const usage = async (by: Usage['by']): Promise<Usage> =>
        ok(await clientOf(hub.url, 'ann', token).call<Usage>('get_usage', { by }));
      expect(await usage('agent')).toMatchObject({ rows: [], total: { turns: 0, cost_reported_usd: null } });

      await alice.say('remember the word melon');
      await alice.trigger();
      await expect.poll(() => alice.answers(), PATIENT).toEqual(['bob']);
      await expect.poll(async () => (await usage('agent')).total.turns, PATIENT).toBe(1);
      await expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });
      const before = place.asked().length;
      await desk.command('prompt', { prompt: 'WANTS melon' });
      const { ask_id } = await desk.asked();
      await desk.answer(ask_id, { decision: 'approved' });
      await expect.poll(async () => (await usage('agent')).total.turns, PATIENT).toBe(2);

      const requests = place.asked().length;
      // The second turn asked the model twice: its tool, and then its last word.
      expect(requests - before).toBeGreaterThanOrEqual(2);
      const { rows, total } = await usage('agent');
      expect(rows).toEqual([{ agent_id: 'bob', ...total }]);
      expect(total).toMatchObject({
        turns: 2,
        turns_without_tokens: 0,
        input_tokens: requests * READ,
        output_tokens: requests * WROTE,
      });
      // Claude Code tells what a turn cost, Codex does not; nobody guesses.
      if (name.startsWith('Claude')) expect(total.cost_reported_usd).toBeGreaterThan(0);
      else
        expect(total).toMatchObject({
          cost_reported_usd: null,
          cost_priced_usd: null,
          turns_without_cost: 2,
        });
      const threads = await usage('thread');
      expect(threads.rows.map(({ thread_id, turns }) => [thread_id === undefined, turns])).toEqual(
        expect.arrayContaining([
          [true, 1],
          [false, 1],
        ]),
      );
      const [{ model } = {}] = (await usage('model')).rows;
      expect(model).toEqual(expect.any(String));
      const told = await runJson<Usage>(['usage', '--by', 'day', '--workspace', WORKSPACE], { data: folder });
      expect(told.rows).toMatchObject([{ day: new Date().toISOString().slice(0, 10), turns: 2 }]);
      expect(await run.stop(), run.stderr()).toBe(0);
    });
});
