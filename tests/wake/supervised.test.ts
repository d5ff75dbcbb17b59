import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { OutputOf } from '@parley/protocol';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { ok } from '../faults/hub-client.ts';
import { expectSoundRecord } from '../faults/oracle.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { describeWith } from '../tools/describe-with.ts';
import { openClaudePlace, openCodexPlace, type RuntimePlace } from './runtime-places.ts';
import {
  callerOf,
  followHub,
  type HubPlace,
  hubServerAt,
  PATIENT,
  runSupervised,
  WORKSPACE,
} from './supervised-scene.ts';

const CODEX = fileURLToPath(new URL('telling-codex.mjs', import.meta.url));
const SETTINGS = { 'wake.recheck_ms': 100, 'wake.quiet_ms': 1_000, 'wake.max_defer_ms': 600_000 };
/** As the hub, so that the supervisor is never more patient. */
const HASTY = ['--quiet', '1s', '--recheck', '100ms'];
const BASH = ['/bin/bash', '--norc', '-i'];
const LONG = { timeout: 180_000 };
const PROMPT = { env: { PS1: 'n=\\# > ' } };

/** The folders of those whom the hub may resume by a stand-in for Codex. */
const data = freshFolder();
const WORK = {
  mortal: join(data, '../mortal'),
  unpasted: join(data, '../unpasted'),
  unread: join(data, '../unread'),
};
const PROFILES = Object.entries(WORK).map(([agent, cwd]) => ({
  agent,
  workspace: WORKSPACE,
  runtime: 'codex',
  bin: CODEX,
  cwd,
  home: cwd,
  doors: ['resume'],
}));
/** For all who need not see how a hub ends. */
const scene = useHub({ data, settings: { ...SETTINGS, 'wake.agents': JSON.stringify(PROFILES) } });
const shared: HubPlace = {
  get url() {
    return scene.hub.url;
  },
  folder: data,
};
beforeAll(() => Object.values(WORK).forEach((folder) => mkdirSync(folder, { recursive: true })));

interface Terminal {
  place: RuntimePlace;
  program: string[];
  prompt: RegExp;
}

const CODEX_PROMPT = /^› Ask Codex/m;
const AGENTS: [agent: string, prepare: (hub: HubPlace, agent: string) => Promise<Terminal>][] = [
  [
    'codex',
    async (hub, agent) => {
      const place = await openCodexPlace('codex', await hubServerAt(hub, agent));
      return { place, program: [place.bin, '--no-daemon'], prompt: CODEX_PROMPT };
    },
  ],
  [
    'codex-0153',
    async (hub, agent) => {
      const place = await openCodexPlace('codex-0153', await hubServerAt(hub, agent));
      return { place, program: [place.bin], prompt: CODEX_PROMPT };
    },
  ],
  [
    'claude',
    async (hub, agent) => {
      const place = await openClaudePlace(await hubServerAt(hub, agent));
      const program = [place.bin, '--permission-mode', 'default', ...place.args];
      return { place, program, prompt: /^❯\s*$/m };
    },
  ],
];

describeWith(['codex', 'codex-0153', 'claude'], 'real agents at their terminals under parley run', () => {
  test(
    "[HUB-M9] [HUB-W1] [HUB-W7] [C-WAKE-16] Codex, Codex 0.153.4 and Claude Code: another agent's message wakes each and is answered; a draft stays, and a hub that is killed meanwhile wakes it once",
    { timeout: 240_000 },
    async () => {
      const folder = temporaryFolder();
      let hub = await startHub(folder, { settings: SETTINGS });

      /** Started, woken, answering, and then with a draft before the next wake. */
      async function begin([agent, prepare]: (typeof AGENTS)[number]) {
        const { place, program, prompt } = await prepare(hub, agent);
        onTestFinished(() => place.close());
        const env = { ...place.env, TERM: 'xterm-256color' };
        const at = { env, cwd: place.place.work, options: HASTY };
        const person = await runSupervised(hub, agent, program, at);
        await person.sees(prompt);
        const alice = await callerOf(() => hub, agent);

        const first = await alice.say('is the mapper done?');
        const reported = await alice.trigger();
        expect(['delivered', 'deferred'], JSON.stringify(reported)).toContain(reported.result);
        await expect.poll(() => alice.answers(), PATIENT).toEqual([agent]);
        await expect
          .poll(() => alice.woken(first), PATIENT)
          .toMatchObject([{ trigger_id: reported.trigger_id, door: 'supervisor', result: 'delivered' }]);

        // The draft is begun when the turn is over: it is the prompt that is typed into, not a queue.
        await expect.poll(async () => prompt.test((await person.screen()).join('\n')), PATIENT).toBe(true);
        person.type('half typed');
        await person.sees(/[›❯]\shalf typed/);
        const second = await alice.say('and the tests?');
        const later = await alice.trigger();
        expect(later).toMatchObject({
          action: 'trigger_runtime',
          result: 'deferred',
          defer_reason: 'human_input_busy',
        });
        return { agent, place, person, alice, second, trigger_id: later.trigger_id };
      }

      /** The draft stands where it stood; when it is sent, the wake follows. */
      async function goOn({ agent, place, person, alice, second, trigger_id }: Begun): Promise<void> {
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id, result: 'deferred', why: 'human_input_busy' }]);
        expect((await person.screen()).join('\n')).toMatch(/[›❯]\shalf typed\s*$/m);

        person.type(' and finished');
        await person.sees('half typed and finished');
        person.type('\r');
        await expect.poll(() => alice.answers(), PATIENT).toEqual([agent, agent]);
        await expect
          .poll(() => alice.woken(second), PATIENT)
          .toMatchObject([{ trigger_id, door: 'supervisor', result: 'delivered' }]);
        const said = place.asked().findLast((text) => text.includes(trigger_id)) ?? '';
        expect(said.split(`(wake ${trigger_id},`)).toHaveLength(2);
        const [own, wake] = ['half typed and finished', trigger_id].map((word) => said.indexOf(word));
        expect(own).toBeGreaterThan(0);
        expect(own).toBeLessThan(wake ?? 0);
      }
      type Begun = Awaited<ReturnType<typeof begin>>;

      const all = await Promise.all(AGENTS.map(begin));
      await hub.end('SIGKILL');
      hub = await startHub(folder, { settings: SETTINGS, port: Number(new URL(hub.url).port) });
      await Promise.all(all.map(goOn));
    },
  );
});

test(
  '[HUB-W1] [HUB-W8] what a wake carries into a real shell is one quoted line, whoever wrote it',
  LONG,
  async () => {
    const work = temporaryFolder();
    const person = await runSupervised(shared, 'shell', BASH, { ...PROMPT, cwd: work, options: HASTY });
    await person.sees('n=1 >');
    const alice = await callerOf(() => shared, 'shell');
    const evil =
      "'; touch P; $(touch P) `touch P`\n\u001b[201~\rtouch P\r\u0003 \u001b[20\u001b[201~1~\ntouch P";
    await alice.say(evil);
    // A shell that has just drawn its prompt may still count as busy.
    expect(await alice.trigger({ trigger_prompt: evil })).toMatchObject({ door: 'supervisor' });
    await person.sees('n=2 >');
    person.type('echo "end of $((1+1))"\r');
    await person.sees('end of 2');
    await person.sees('n=3 >');
    expect(existsSync(join(work, 'P'))).toBe(false);
  },
);

test(
  '[HUB-W3] [C-WAKE-04] [C-WAKE-05] after the quiet time it goes in; a person who types on past the longest deferral is left alone',
  { timeout: 240_000 },
  async () => {
    const { quietMs, recheckMs, deferMs, typingMs } = sizeOf('C-WAKE-05');
    const settings = {
      'wake.quiet_ms': quietMs,
      'wake.recheck_ms': recheckMs,
      'wake.max_defer_ms': deferMs,
    };
    const hub = await startHub(temporaryFolder(), { settings });
    const patience = ['--quiet', quietMs, '--recheck', recheckMs, '--max-defer', deferMs];
    const options = patience.map((word) => (typeof word === 'number' ? `${word}ms` : word));
    const sit = (agent: string) => runSupervised(hub, agent, BASH, { ...PROMPT, options });
    const [quieted, busy] = await Promise.all([sit('quieted'), sit('busy')]);
    const [toQuieted, toBusy] = await Promise.all([
      callerOf(() => hub, 'quieted'),
      callerOf(() => hub, 'busy'),
    ]);
    await Promise.all([quieted, busy].map((person) => person.sees('n=1 >')));
    const typing = setInterval(() => busy.type('x'), typingMs);
    onTestFinished(() => clearInterval(typing));
    busy.type('x');
    await busy.sees('n=1 > x');
    const typedAt = Date.now();
    quieted.type('echo typed\r');
    await quieted.sees(/^typed/m);

    const [reported, kept] = await Promise.all(
      [toQuieted, toBusy].map(async (alice) => {
        const message = await alice.say('look');
        const answer = await alice.trigger();
        expect(answer).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
        const wait = Date.parse(answer.deferred_until ?? '') - Date.parse(answer.triggered_at);
        expect(wait).toBeGreaterThanOrEqual(deferMs);
        return { message, trigger_id: answer.trigger_id };
      }),
    );
    const stepsOf = async (alice: typeof toBusy) => (await alice.journal()).map(({ facts }) => facts['step']);
    const UNHURRIED = { timeout: 150_000, interval: 500 };
    await expect
      .poll(() => stepsOf(toQuieted), UNHURRIED)
      .toEqual(['asked', 'deferred', 'delivering', 'delivered']);
    const delivering = (await toQuieted.journal()).find(({ facts }) => facts['step'] === 'delivering');
    const quiet = (delivering?.at ?? 0) - typedAt;
    measured('C-WAKE-05', 'went in after', `${Math.round(quiet)} ms of quiet`);
    expect(quiet).toBeGreaterThanOrEqual(quietMs - 100);
    expect(await toQuieted.woken(reported?.message ?? '')).toMatchObject([
      { trigger_id: reported?.trigger_id },
    ]);

    await expect
      .poll(() => stepsOf(toBusy), UNHURRIED)
      .toEqual(['asked', 'deferred', 'door_passed', 'collided']);
    const [asked, , , failed] = await toBusy.journal();
    expect(failed?.facts).toMatchObject({ code: 'HUMAN_INPUT_COLLISION', trigger_id: kept?.trigger_id });
    const deferred = (failed?.at ?? 0) - (asked?.at ?? 0);
    measured('C-WAKE-05', 'given up after', `${Math.round(deferred)} ms of typing`);
    expect(deferred).toBeGreaterThanOrEqual(deferMs - 100);
    clearInterval(typing);
    // Nothing stands at the prompt but what the person typed.
    expect((await busy.screen()).join('')).toMatch(/^n=1 > x+$/);
    // The draft only delayed it: when the person has taken it away and is quiet, it goes in.
    busy.type('\u0015\u0003');
    await expect.poll(() => stepsOf(toBusy), UNHURRIED).toEqual(expect.arrayContaining(['delivered']));
    await hub.end('SIGTERM');
    expectSoundRecord(hub.folder);
  },
);

test(
  '[C-WAKE-15] the program dies while a wake waits for its person: the next door is taken, and nothing is typed anywhere',
  LONG,
  async () => {
    const THREAD = '019a0000-0000-7000-8000-000000000015';
    const work = WORK.mortal;
    const mortal = await followHub(() => shared, 'mortal');
    const beat = { runtime: 'codex_cli', resumable: true, native_session_id: THREAD };
    ok(await mortal().call('heartbeat_session', beat));
    const person = await runSupervised(shared, 'mortal', BASH, { ...PROMPT, options: HASTY });
    await person.sees('n=1 >');
    person.type('echo $$; echo dra');
    await person.sees('echo dra');
    const alice = await callerOf(() => shared, 'mortal');
    const message = await alice.say('look');
    const reported = await alice.trigger();
    expect(reported).toMatchObject({
      result: 'deferred',
      defer_reason: 'human_input_busy',
      fallback_action: 'resume_session',
    });
    const before = person.raw();
    process.kill(childOf(person.pid), 'SIGKILL');
    expect(await person.exited).toMatchObject({ signal: 'SIGKILL' });
    await expect
      .poll(() => alice.woken(message), PATIENT)
      .toMatchObject([{ trigger_id: reported.trigger_id, door: 'codex_resume', result: 'delivered' }]);
    const [run = ''] = readFileSync(join(work, 'started.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(run)).toMatchObject({ args: expect.arrayContaining(['resume', THREAD]) });
    expect(person.raw().slice(before.length)).not.toContain('wake');
  },
);

/** Programs that show a prompt and take nothing that is pasted there. */
const DEAF = [
  ['unpasted', 'has no bracketed paste', "stty raw -echo; printf '> '; exec cat >taken"],
  ['unread', 'does not read', String.raw`stty raw -echo; printf '\033[?2004h> '; exec sleep 600`],
] as const;

test.each(DEAF)(
  '[HUB-W2] %s: a program that %s is passed by for the next door within a second or so, and nothing is entered there',
  LONG,
  async (agent, _what, program) => {
    const work = WORK[agent];
    const native_session_id = '019a0000-0000-7000-8000-000000000016';
    const itself = await followHub(() => shared, agent);
    ok(
      await itself().call('heartbeat_session', { runtime: 'codex_cli', resumable: true, native_session_id }),
    );
    const options = [...HASTY, '--kind', 'prompt'];
    const person = await runSupervised(shared, agent, ['/bin/bash', '-c', program], { options, cwd: work });
    await person.sees('>');
    // A program that has just been started is given its time.
    const ann = await followHub(() => shared, 'ann', 'operator');
    const starts = async () => {
      const { doors } = ok(await ann().call<OutputOf<'check_reach'>>('check_reach', { of_agent: agent }));
      return doors.find(({ door }) => door === 'supervisor')?.open === 'later';
    };
    await expect.poll(starts, PATIENT).toBe(false);
    const alice = await callerOf(() => shared, agent);
    const message = await alice.say('look');
    await alice.trigger();
    await expect
      .poll(() => alice.woken(message), PATIENT)
      .toMatchObject([{ door: 'codex_resume', result: 'delivered' }]);
    const steps = await alice.journal();
    const asked = steps.find(({ facts }) => facts['step'] === 'asked')?.at ?? 0;
    const next = steps.find(({ facts }) => facts['door'] === 'codex_resume')?.at ?? 0;
    // Passed by at once, or after the second in which it shows nothing; not after the ten that a program may take.
    expect(next - asked).toBeLessThan(5_000);
    expect((await person.screen()).join('').trim()).toBe('>');
    const taken = join(work, 'taken');
    expect(existsSync(taken) ? readFileSync(taken, 'utf8') : '').toBe('');
  },
);

test(
  'of two sessions under one name a wake goes into one, whose name is on record, and never astray into the other',
  LONG,
  async () => {
    const sit = (session: string) =>
      runSupervised(shared, 'pair', BASH, { ...PROMPT, options: [...HASTY, '--session', session] });
    const one = await sit('one');
    await one.sees('n=1 >');
    const two = await sit('two');
    await two.sees('n=1 >');
    const boss = await followHub(() => shared, 'ann');
    const connected = async () =>
      ok(await boss().call<{ connected: string[] }>('get_agent', { of_agent: 'pair' })).connected.length;
    await expect.poll(connected, PATIENT).toBe(2);
    const alice = await callerOf(() => shared, 'pair');
    const goneTo = async () =>
      (await alice.journal()).flatMap(({ facts }) =>
        facts['step'] === 'delivering' ? [facts['to_session']] : [],
      );
    const isWoken = (message: string) =>
      expect.poll(() => alice.woken(message), PATIENT).toMatchObject([{ result: 'delivered' }]);

    // A draft in the one that is meant keeps the wake waiting: it does not go to the other instead.
    two.type('echo dra');
    await two.sees('echo dra');
    const first = await alice.say('look at this');
    const reported = await alice.trigger();
    expect(reported).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
    two.type('\u0015\u0003');
    await isWoken(first);
    await expect.poll(async () => (await two.screen()).join(''), PATIENT).toContain(reported.trigger_id);
    expect(one.raw()).not.toContain('wake');
    expect(new Set(await goneTo())).toEqual(new Set(['two']));

    two.type('exit\r');
    await two.exited;
    await expect.poll(connected, PATIENT).toBe(1);
    const second = await alice.say('and at that');
    const again = await alice.trigger();
    await isWoken(second);
    await expect.poll(async () => (await one.screen()).join(''), PATIENT).toContain(again.trigger_id);
    expect(await goneTo()).toContain('one');
  },
);

/** The program that a supervisor runs. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
