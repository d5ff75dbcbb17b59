import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deskOf, MANAGED, processesOf, runManaged, SLOW } from './managed-scene.ts';
import { callerOf, PATIENT } from './supervised-scene.ts';

const SETTINGS = { 'wake.recheck_ms': 100, 'wake.max_defer_ms': 200, 'wake.proof_ms': 60_000 };
const LONG = { timeout: 240_000 };

describeWith(['codex', 'codex-0153', 'claude'], 'a session without a terminal under parley run', () => {
  for (const [name, prepare, canSteer] of MANAGED) {
    test(
      `[HUB-M9] [HUB-W7] [C-WAKE-16] ${name}: another agent's message wakes it and is answered; busy it gets it after its turn, once, though the hub is killed meanwhile; it ends without a trace and is resumed`,
      LONG,
      async () => {
        const folder = temporaryFolder();
        let hub = await startHub(folder, { settings: SETTINGS });
        const place = await prepare();
        onTestFinished(() => place.close());
        const run = await runManaged(hub, 'bob', place);
        const alice = await callerOf(() => hub, 'bob');
        const desk = await deskOf(() => hub, 'bob');
        const { session_id } = await desk.state();
        const proof = expect.stringMatching(/^runtime_(status|record)$/);

        const first = await alice.say('remember the word melon');
        const reported = await alice.trigger();
        expect(reported).toMatchObject({
          action: 'trigger_runtime',
          result: 'delivered',
          door: 'managed',
          proof,
        });
        await expect.poll(() => alice.answers(), PATIENT).toEqual(['bob']);
        expect(await alice.woken(first)).toMatchObject([
          { trigger_id: reported.trigger_id, door: 'managed', result: 'delivered', proof },
        ]);
        await expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });

        // A turn longer than any person may keep it waiting.
        await desk.command('prompt', { prompt: `${SLOW} down` });
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('busy');
        const second = await alice.say('and the tests?');
        const later = await alice.trigger();
        expect(later).toMatchObject({ result: 'deferred', defer_reason: 'working', door: 'managed' });
        await hub.end('SIGKILL');
        hub = await startHub(folder, { settings: SETTINGS, port: Number(new URL(hub.url).port) });
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id: later.trigger_id, result: 'deferred' }]);
        await expect.poll(async () => (await desk.agent()).connected, PATIENT).toEqual(['ws']);
        expect(place.asked().join()).not.toContain(later.trigger_id);
        place.finish();
        await expect.poll(() => alice.answers(), PATIENT).toEqual(['bob', 'bob']);
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id: later.trigger_id, door: 'managed', result: 'delivered' }]);
        const said = place.asked().findLast((text) => text.includes(later.trigger_id)) ?? '';
        expect(said.split(`(wake ${later.trigger_id},`)).toHaveLength(2);

        expect(await run.stop(), run.stderr()).toBe(0);
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('offline');

        const again = await runManaged(hub, 'bob', place);
        expect(again.news).toContainEqual(expect.objectContaining({ event: 'ready', sessionId: session_id }));
        const third = await alice.say('which word was it?');
        await alice.trigger();
        await expect
          .poll(() => alice.woken(third), PATIENT)
          .toMatchObject([{ door: 'managed', result: 'delivered' }]);
        await expect.poll(() => alice.answers(), PATIENT).toHaveLength(3);
        // It is the old session: its model still sees the wake of before.
        expect(place.asked().at(-1)).toContain(later.trigger_id);
        expect(await again.stop()).toBe(0);
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
      },
    );

    test(
      `${name}: what it wants to run is an ask with its own options; the verdict is carried out, and what ends otherwise is told as such`,
      LONG,
      async () => {
        const hub = await startHub(temporaryFolder(), { settings: SETTINGS });
        const place = await prepare();
        onTestFinished(() => place.close());
        await runManaged(hub, 'bob', place);
        const desk = await deskOf(() => hub, 'bob');
        const made = (file: string): boolean => existsSync(join(place.place.work, file));
        const rests = () => expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });

        await desk.command('prompt', { prompt: 'WANTS one' });
        const ask = await desk.asked();
        expect(ask).toMatchObject({ kind: 'approval', agent_id: 'bob', cwd: place.place.work });
        expect(ask.command).toContain('touch one');
        expect(ask.options?.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['allow_once', 'deny']));
        expect(await desk.state()).toMatchObject({ state: 'blocked' });
        expect(await desk.agent()).toMatchObject({ status: 'busy', metadata: { waiting: 'prompt' } });
        expect(made('one')).toBe(false);
        await desk.answer(ask.ask_id, { decision: 'approved', option: 'once' });
        await expect.poll(() => made('one'), PATIENT).toBe(true);
        await rests();

        await desk.command('prompt', { prompt: 'WANTS two' });
        const denied = await desk.asked();
        await desk.answer(denied.ask_id, { decision: 'denied', reason: 'not on a Monday' });
        await rests();
        expect(made('two')).toBe(false);

        await desk.command('prompt', { prompt: 'WANTS three' });
        const cut = await desk.asked();
        expect(await desk.command('cancel')).toEqual({ cancelled: true });
        await rests();
        await expect
          .poll(() => desk.ask(cut.ask_id), PATIENT)
          .toMatchObject({ status: 'resolved', verdict: { decision: 'withdrawn' } });
        expect(made('three')).toBe(false);
      },
    );

    test(
      `${name}: an operator stops it in the midst of its turn: it ends on record, leaves nothing behind and is not started again`,
      LONG,
      async () => {
        const hub = await startHub(temporaryFolder(), { settings: SETTINGS });
        const place = await prepare();
        onTestFinished(() => place.close());
        const run = await runManaged(hub, 'bob', place);
        const desk = await deskOf(() => hub, 'bob');
        expect((await desk.agent()).capabilities).toContain('stop');
        await desk.command('prompt', { prompt: `${SLOW} down` });
        await expect.poll(() => place.asked().length, PATIENT).toBe(1);
        expect(await desk.command('stop')).toEqual({ stopping: true, was_working: true });
        expect(await run.exited, run.stderr()).toBe(0);
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('offline');
        expect(run.news.map(({ event }) => event)).not.toContain('down');
        const journal = await desk.journal();
        expect(journal).toContain('ann: stop');
        expect(journal).toContain('bob: ann has stopped the session');
        // The turn that was cut off is told as such.
        expect(journal.indexOf('bob: ann has stopped the session')).toBeLessThan(journal.length - 1);
      },
    );

    if (canSteer)
      test(`${name}: an operator who insists reaches it in the midst of its turn`, LONG, async () => {
        const hub = await startHub(temporaryFolder(), { settings: SETTINGS });
        const place = await prepare();
        onTestFinished(() => place.close());
        await runManaged(hub, 'bob', place);
        const desk = await deskOf(() => hub, 'bob');
        const alice = await callerOf(() => hub, 'bob');
        await desk.command('prompt', { prompt: `${SLOW} down` });
        await expect.poll(() => place.asked().length, PATIENT).toBe(1);
        const message = await alice.say('stop that');
        const { trigger_id } = await alice.trigger();
        await desk.force(alice.thread_id, 'it must know now');
        await expect
          .poll(() => alice.woken(message), PATIENT)
          .toMatchObject([{ trigger_id, door: 'managed', result: 'delivered' }]);
        // The turn that it went into still runs.
        expect(await desk.state()).toMatchObject({ state: 'working' });
        place.finish();
        await expect.poll(() => alice.answers(), PATIENT).toEqual(['bob']);
      });
  }

  test(
    'Claude Code: an operator who insists reaches its turn with the next result of a tool',
    LONG,
    async () => {
      const hub = await startHub(temporaryFolder(), { settings: SETTINGS });
      const [, prepare] = MANAGED[2] as (typeof MANAGED)[number];
      const place = await prepare();
      onTestFinished(() => place.close());
      await runManaged(hub, 'bob', place);
      const desk = await deskOf(() => hub, 'bob');
      const alice = await callerOf(() => hub, 'bob');
      // It waits for a person, in the midst of a turn; the answer lets its tool run.
      await desk.command('prompt', { prompt: 'WANTS one' });
      const ask = await desk.asked();
      const message = await alice.say('stop that');
      const { trigger_id } = await alice.trigger();
      await desk.force(alice.thread_id, 'it must know now');
      await expect
        .poll(() => alice.woken(message), PATIENT)
        .toMatchObject([{ trigger_id, result: 'queued' }]);
      await desk.answer(ask.ask_id, { decision: 'approved', option: 'once' });
      await expect
        .poll(() => alice.woken(message), PATIENT)
        .toMatchObject([{ trigger_id, door: 'managed', result: 'delivered', proof: 'runtime_status' }]);
      // It stands beside the tool's result: one turn, not two.
      await expect
        .poll(() => place.asked().find((text) => text.includes(trigger_id)), PATIENT)
        .toContain('want_one');
      await expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });
    },
  );

  test(
    'nobody answers: after the time for it the command is refused, and the ask says so',
    LONG,
    async () => {
      const hub = await startHub(temporaryFolder(), { settings: SETTINGS });
      const [, prepare] = MANAGED[2] as (typeof MANAGED)[number];
      const place = await prepare();
      onTestFinished(() => place.close());
      await runManaged(hub, 'bob', place, ['--ask-timeout', '1s']);
      const desk = await deskOf(() => hub, 'bob');
      await desk.command('prompt', { prompt: 'WANTS one' });
      await expect
        .poll(async () => (await desk.asks('resolved')).map(({ verdict }) => verdict?.decision), PATIENT)
        .toEqual(['denied']);
      await expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });
      expect(existsSync(join(place.place.work, 'one'))).toBe(false);
    },
  );
});
