import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { expect, onTestFinished, test } from 'vitest';

import { startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { runJson } from '../harness/run-cli.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deskOf, MANAGED, type ManagedPlace, processesOf, runManaged, SLOW } from './managed-scene.ts';
import { callerOf, PATIENT, WORKSPACE } from './supervised-scene.ts';

const SETTINGS = { 'wake.recheck_ms': 100, 'wake.max_defer_ms': 200, 'wake.proof_ms': 60_000 };
type Usage = OutputOf<'get_usage'>;

const LONG = { timeout: 240_000 };

/** What the scripted model says that each request used. */
const [READ, WROTE] = [10, 5];

/** The person at the desk and the program that it is about. */
interface Scene {
  agent: string;
  desk: Awaited<ReturnType<typeof deskOf>>;
  alice: Awaited<ReturnType<typeof callerOf>>;
  place: ManagedPlace;
}

const made = ({ place }: Scene, file: string): boolean => existsSync(join(place.place.work, file));
const rests = ({ desk }: Scene) => expect.poll(() => desk.state(), PATIENT).toMatchObject({ state: 'idle' });

/** Says something that its model is slow at, and waits until it is at it. */
async function keepBusy({ desk, place }: Scene): Promise<void> {
  const before = place.asked().length;
  await desk.command('prompt', { prompt: `${SLOW} down` });
  await expect.poll(() => place.asked().length, PATIENT).toBe(before + 1);
}

/** What it wants to run is an ask with its own options; the verdict is carried out. */
async function expectAsked(scene: Scene): Promise<void> {
  const { agent, desk, place } = scene;
  await desk.command('prompt', { prompt: 'WANTS one' });
  const ask = await desk.asked();
  expect(ask).toMatchObject({ kind: 'approval', agent_id: agent, cwd: place.place.work });
  expect(ask.command).toContain('touch one');
  expect(ask.options?.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['allow_once', 'deny']));
  expect(await desk.state()).toMatchObject({ state: 'blocked' });
  expect(await desk.agent()).toMatchObject({ status: 'busy', metadata: { waiting: 'prompt' } });
  expect(made(scene, 'one')).toBe(false);
  await desk.answer(ask.ask_id, { decision: 'approved', option: 'once' });
  await expect.poll(() => made(scene, 'one'), PATIENT).toBe(true);
  await rests(scene);
}

/** Two turns so far, one for a message and one at the desk: the runtime's own counts, by agent and by thread. */
async function expectUsage({ agent, desk, place }: Scene): Promise<void> {
  const turns = async () => (await desk.usage('agent')).total.turns;
  await expect.poll(turns, PATIENT).toBe(2);
  const requests = place.asked().length;
  const { rows, total } = await desk.usage('agent');
  expect(rows).toEqual([{ agent_id: agent, ...total }]);
  expect(total).toMatchObject({
    turns: 2,
    turns_without_tokens: 0,
    input_tokens: requests * READ,
    output_tokens: requests * WROTE,
  });
  // Claude Code tells what a turn cost, Codex does not; nobody guesses.
  if (agent === 'claude') expect(total.cost_reported_usd).toBeGreaterThan(0);
  else expect(total).toMatchObject({ cost_reported_usd: null, cost_priced_usd: null, turns_without_cost: 2 });
  const threads = await desk.usage('thread');
  expect(threads.rows.map(({ thread_id, turns: n }) => [thread_id === undefined, n])).toEqual(
    expect.arrayContaining([
      [true, 1],
      [false, 1],
    ]),
  );
  const [{ model } = {}] = (await desk.usage('model')).rows;
  expect(model).toEqual(expect.any(String));
}

async function expectDenied(scene: Scene): Promise<void> {
  const { desk } = scene;
  await desk.command('prompt', { prompt: 'WANTS two' });
  const denied = await desk.asked();
  await desk.answer(denied.ask_id, { decision: 'denied', reason: 'not on a Monday' });
  await rests(scene);
  expect(made(scene, 'two')).toBe(false);
}

/** What ends otherwise than by an answer is told as such. */
async function expectWithdrawn(scene: Scene): Promise<void> {
  const { desk } = scene;
  await desk.command('prompt', { prompt: 'WANTS three' });
  const cut = await desk.asked();
  expect(await desk.command('cancel')).toEqual({ cancelled: true });
  await rests(scene);
  await expect
    .poll(() => desk.ask(cut.ask_id), PATIENT)
    .toMatchObject({ status: 'resolved', verdict: { decision: 'withdrawn' } });
  expect(made(scene, 'three')).toBe(false);
}

/** An operator who insists reaches it in the midst of its turn. */
async function expectSteered(scene: Scene): Promise<void> {
  const { desk, alice, place } = scene;
  await keepBusy(scene);
  const message = await alice.say('stop that');
  const { trigger_id } = await alice.trigger();
  await desk.force(alice.thread_id, 'it must know now');
  await expect
    .poll(() => alice.woken(message), PATIENT)
    .toMatchObject([{ trigger_id, door: 'managed', result: 'delivered' }]);
  // The turn that it went into still runs.
  expect(await desk.state()).toMatchObject({ state: 'working' });
  place.finish();
}

/** An operator who insists reaches its turn with the next result of a tool. */
async function expectReachedByResult({ desk, alice, place }: Scene): Promise<void> {
  // It waits for a person, in the midst of a turn; the answer lets its tool run.
  await desk.command('prompt', { prompt: 'WANTS more' });
  const ask = await desk.asked();
  const message = await alice.say('stop that');
  const { trigger_id } = await alice.trigger();
  await desk.force(alice.thread_id, 'it must know now');
  await expect.poll(() => alice.woken(message), PATIENT).toMatchObject([{ trigger_id, result: 'queued' }]);
  await desk.answer(ask.ask_id, { decision: 'approved', option: 'once' });
  await expect
    .poll(() => alice.woken(message), PATIENT)
    .toMatchObject([{ trigger_id, door: 'managed', result: 'delivered', proof: 'runtime_status' }]);
  // It stands beside the tool's result: one turn, not two.
  await expect
    .poll(() => place.asked().find((text) => text.includes(trigger_id)), PATIENT)
    .toContain('want_more');
}

/** Nobody answers: after the time for it the command is refused, and the ask says so. */
async function expectRefusedInTime(scene: Scene): Promise<void> {
  const { desk } = scene;
  await desk.command('prompt', { prompt: 'WANTS four' });
  const verdicts = async () =>
    (await desk.asks('resolved'))
      .filter(({ command }) => command?.includes('touch four') === true)
      .map(({ verdict }) => verdict?.decision);
  await expect.poll(verdicts, PATIENT).toEqual(['denied']);
  await rests(scene);
  expect(made(scene, 'four')).toBe(false);
}

describeWith(['codex', 'codex-0153', 'claude'], 'sessions without a terminal under parley run', () => {
  test(
    "[HUB-M9] [HUB-W7] [C-WAKE-16] Codex, Codex 0.153.4 and Claude Code: another agent's message wakes each and is answered; busy it gets it after its turn, once, though the hub is killed meanwhile, and at once from an operator who insists; what it wants to run is asked for, what its turns used is told; it ends without a trace, is resumed, and is stopped in the midst of its turn",
    LONG,
    async () => {
      const folder = temporaryFolder();
      let hub = await startHub(folder, { settings: SETTINGS });
      const proof = expect.stringMatching(/^runtime_(status|record)$/);

      /** Started, woken, asked, and then busy before the next wake. */
      async function begin([agent, prepare, canSteer]: (typeof MANAGED)[number]) {
        const place = await prepare();
        onTestFinished(() => place.close());
        const run = await runManaged(hub, agent, place);
        const alice = await callerOf(() => hub, agent);
        const desk = await deskOf(() => hub, agent);
        const scene = { agent, desk, alice, place };
        const { session_id } = await desk.state();
        expect((await desk.usage('agent')).total).toMatchObject({ turns: 0, cost_reported_usd: null });

        const first = await alice.say('remember the word melon');
        const reported = await alice.trigger();
        expect(reported).toMatchObject({
          action: 'trigger_runtime',
          result: 'delivered',
          door: 'managed',
          proof,
        });
        await expect.poll(() => alice.answers(), PATIENT).toEqual([agent]);
        expect(await alice.woken(first)).toMatchObject([
          { trigger_id: reported.trigger_id, door: 'managed', result: 'delivered', proof },
        ]);
        await rests(scene);
        await expectAsked(scene);
        await expectUsage(scene);

        // A turn longer than any person may keep it waiting.
        await keepBusy(scene);
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('busy');
        const second = await alice.say('and the tests?');
        const later = await alice.trigger();
        expect(later).toMatchObject({ result: 'deferred', defer_reason: 'working', door: 'managed' });
        return { ...scene, run, canSteer, session_id, second, trigger_id: later.trigger_id };
      }
      type Begun = Awaited<ReturnType<typeof begin>>;

      /** The wake comes after the turn; then who insists, and what ends otherwise than by an answer. */
      async function goOn(scene: Begun): Promise<void> {
        const { agent, desk, alice, place, second, trigger_id } = scene;
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id, result: 'deferred' }]);
        await expect.poll(async () => (await desk.agent()).connected, PATIENT).toEqual(['ws']);
        expect(place.asked().join()).not.toContain(trigger_id);
        place.finish();
        await expect.poll(() => alice.answers(), PATIENT).toEqual([agent, agent]);
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id, door: 'managed', result: 'delivered' }]);
        const said = place.asked().findLast((text) => text.includes(trigger_id)) ?? '';
        expect(said.split(`(wake ${trigger_id},`)).toHaveLength(2);
        await rests(scene);

        await expectDenied(scene);
        await (scene.canSteer ? expectSteered : expectReachedByResult)(scene);
        await expect.poll(() => alice.answers(), PATIENT).toHaveLength(3);
        await rests(scene);
        await expectWithdrawn(scene);
      }

      /** It ends without a trace, and its session goes on in another process until an operator stops that. */
      async function comeToAnEnd(scene: Begun): Promise<void> {
        const { agent, desk, alice, place, run, session_id, trigger_id } = scene;
        expect(await run.stop(), run.stderr()).toBe(0);
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('offline');

        const again = await runManaged(hub, agent, place, ['--ask-timeout', '1s']);
        expect(again.news).toContainEqual(expect.objectContaining({ event: 'ready', sessionId: session_id }));
        const third = await alice.say('which word was it?');
        await alice.trigger();
        await expect
          .poll(() => alice.woken(third), PATIENT)
          .toMatchObject([{ door: 'managed', result: 'delivered' }]);
        await expect.poll(() => alice.answers(), PATIENT).toHaveLength(4);
        // It is the old session: its model still sees the wake of before.
        expect(place.asked().at(-1)).toContain(trigger_id);
        await rests(scene);
        await expectRefusedInTime(scene);

        // An operator stops it: it ends on record, leaves nothing behind and is not started again.
        expect((await desk.agent()).capabilities).toContain('stop');
        await keepBusy(scene);
        expect(await desk.command('stop')).toEqual({ stopping: true, was_working: true });
        expect(await again.exited, again.stderr()).toBe(0);
        await expect.poll(() => processesOf(place.place.root), PATIENT).toEqual([]);
        await expect.poll(async () => (await desk.agent()).status, PATIENT).toBe('offline');
        expect(again.news.map(({ event }) => event)).not.toContain('down');
        const journal = await desk.journal();
        expect(journal).toContain('ann: stop');
        const stopped = `${agent}: ann has stopped the session`;
        expect(journal).toContain(stopped);
        // The turn that was cut off is told as such.
        expect(journal.indexOf(stopped)).toBeLessThan(journal.length - 1);
      }

      const all = await Promise.all(MANAGED.map(begin));
      const told = await runJson<Usage>(['usage', '--by', 'day', '--workspace', WORKSPACE], { data: folder });
      expect(told.rows).toMatchObject([{ day: new Date().toISOString().slice(0, 10), turns: 6 }]);
      await hub.end('SIGKILL');
      hub = await startHub(folder, { settings: SETTINGS, port: Number(new URL(hub.url).port) });
      await Promise.all(all.map(goOn));
      await Promise.all(all.map(comeToAnEnd));
    },
  );
});
