import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';

import { type CrashHub, startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { ok } from '../faults/hub-client.ts';
import { type Person, sitDown } from '../supervisor/person.ts';
import { describeWith } from '../tools/describe-with.ts';
import { hubServer, openClaudePlace, openCodexPlace, type RuntimePlace } from './runtime-places.ts';
import { callerOf, followHub, PATIENT, runSupervised, WORKSPACE } from './supervised-scene.ts';

type Usage = OutputOf<'get_usage'>;

const LONG = { timeout: 240_000 };
/** What the scripted model says that each request used. */
const [READ, WROTE] = [10, 5];

interface Terminal {
  place: RuntimePlace;
  /** The words after the program's own name at a terminal, with the hub's tools where they are registered. */
  words: string[];
  /** The same session once more. */
  again: (id: string) => string[];
  /** One turn without a terminal, and with `id` one more of that session. */
  once: (prompt: string, id?: string) => string[];
  prompt: RegExp;
  /** The requests of the conversation that the model has answered. */
  asked(): number;
  /** The id of the session, from the runtime's own record. */
  session(): string;
  leave: string;
}

function server(folder: string | undefined, agent: string) {
  if (folder === undefined) return undefined;
  const { args, ...rest } = hubServer(folder, agent);
  return { ...rest, args: args.map((word) => (word === 'w1' ? WORKSPACE : word)) };
}

async function claude(folder: string | undefined): Promise<Terminal> {
  let asked = 0;
  const place = await openClaudePlace(server(folder, 'claude'), {
    script: async ({ body }) => {
      // It also asks for titles and the like, without tools.
      if ((body.tools ?? []).length > 0) asked += 1;
      return undefined;
    },
  });
  onTestFinished(() => place.close());
  const args = folder === undefined ? [] : place.args;
  const mode = ['--permission-mode', 'default'];
  return {
    place,
    words: [...mode, ...args],
    again: (id) => [...mode, '--resume', id, ...args],
    once: (prompt, id) => ['-p', prompt, ...(id === undefined ? [] : ['--resume', id]), ...args],
    prompt: /^❯\s*$/m,
    asked: () => asked,
    session: () => newest(join(place.home, 'projects'), /^([0-9a-f-]{36})\.jsonl$/),
    leave: '/exit',
  };
}

async function codex(folder: string | undefined): Promise<Terminal> {
  const place = await openCodexPlace('codex', server(folder, 'codex'));
  onTestFinished(() => place.close());
  const exec = ['exec', '--skip-git-repo-check', '--sandbox', 'read-only'];
  return {
    place,
    words: ['--no-daemon'],
    again: (id) => ['--no-daemon', 'resume', id],
    once: (prompt, id) => (id === undefined ? [...exec, prompt] : [...exec, 'resume', id, prompt]),
    prompt: /^› Ask Codex/m,
    asked: () => place.asked().length,
    session: () => newest(join(place.home, 'sessions'), /^rollout-.*-([0-9a-f-]{36})\.jsonl$/),
    leave: '/quit',
  };
}

/** The newest of the records under a folder, by the id in its name. */
function newest(folder: string, pattern: RegExp): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const ids = names.flatMap((name) => pattern.exec(name.split('/').at(-1) ?? '')?.[1] ?? []);
  return ids.toSorted().at(-1) ?? '';
}

/** What one agent used, as the hub tells it wherever it is now. */
async function usageOf(hub: () => CrashHub, of_agent: string) {
  const ann = await followHub(hub, 'ann', 'operator');
  return async (by: Usage['by'] = 'agent'): Promise<Usage> =>
    ok(await ann().call<Usage>('get_usage', { by, of_agent }));
}

/** Says something to a program and waits until the model was asked. */
async function say(person: Person, terminal: Terminal, text: string): Promise<void> {
  const before = terminal.asked();
  person.paste(text);
  await person.sees(text);
  await vi.waitFor(
    async () => {
      person.type('\r');
      await vi.waitFor(() => expect(terminal.asked()).toBeGreaterThan(before), { timeout: 4_000 });
    },
    { timeout: 40_000 },
  );
}

async function leave(person: Person, { leave: word }: Terminal): Promise<void> {
  await vi.waitFor(
    async () => {
      person.type(word);
      await new Promise((resolve) => setTimeout(resolve, 500));
      person.type('\r');
      await Promise.race([
        person.exited,
        new Promise((_, reject) => setTimeout(reject, 5_000, new Error('it is still there'))),
      ]);
    },
    { timeout: 40_000 },
  );
}

async function runOnce({ place }: Terminal, words: string[]): Promise<void> {
  const child = spawn(place.bin, words, { env: place.env, cwd: place.place.work, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([0, null]);
}

const AGENTS = [
  ['claude', claude],
  ['codex', codex],
] as const;

describeWith(['codex', 'claude'], 'what a person’s own sessions used', () => {
  test(
    'Claude Code and Codex with the hub’s tools: each turn once, over runs without a terminal, a resume, and a wake',
    LONG,
    async () => {
      const hub = await startHub(temporaryFolder(), { settings: { 'wake.recheck_ms': 100 } });
      await Promise.all(AGENTS.map(live));
      // Numbers and ids stay here, no word of what was said.
      const kept = join(hub.folder, 'usage', WORKSPACE);
      for (const file of readdirSync(kept))
        expect(readFileSync(join(kept, file), 'latin1')).not.toMatch(/melon|cherry|plum|mapper/);

      async function live([agent, open]: (typeof AGENTS)[number]): Promise<void> {
        const terminal = await open(hub.folder);
        const usage = await usageOf(() => hub, agent);
        const turns = async () => (await usage()).total.turns;
        const start = async (words: string[], isSupervised = false) => {
          const where = {
            env: { ...terminal.place.env, TERM: 'xterm-256color' },
            cwd: terminal.place.place.work,
          };
          const program = [terminal.place.bin, ...words];
          const person = await (isSupervised
            ? runSupervised(hub, agent, program, { ...where, options: ['--quiet', '500ms'] })
            : sitDown(program, where));
          await person.sees(terminal.prompt);
          return person;
        };
        const first = await start(terminal.words);
        await say(first, terminal, 'remember the word melon');
        await expect.poll(turns, PATIENT).toBe(1);
        await leave(first, terminal);
        const id = terminal.session();
        await runOnce(terminal, terminal.once('and the word plum', id));
        await runOnce(terminal, terminal.once('nothing'));
        // What the last of them did not come to tell is told by the next.
        // A Codex without its daemon is woken by its supervisor, which then reads beside its MCP server.
        const second = await start(terminal.again(id), agent === 'codex');
        await expect.poll(turns, PATIENT).toBe(3);
        await say(second, terminal, 'and the word cherry');
        await expect.poll(turns, PATIENT).toBe(4);

        const alice = await callerOf(() => hub, agent);
        await alice.say('is the mapper done?');
        await expect
          .poll(async () => (await alice.trigger().catch(() => undefined))?.result, PATIENT)
          .toMatch(/^(queued|delivered|deferred|skipped)$/);
        await expect.poll(() => alice.answers(), PATIENT).toEqual([agent]);
        await expect.poll(turns, PATIENT).toBe(5);
        await leave(second, terminal);

        const { rows, total } = await usage();
        expect(rows).toEqual([{ agent_id: agent, ...total }]);
        expect(total).toMatchObject({
          turns: 5,
          turns_without_tokens: 0,
          turns_without_cost: 5,
          input_tokens: terminal.asked() * READ,
          output_tokens: terminal.asked() * WROTE,
          cost_reported_usd: null,
        });
        const threads = (await usage('thread')).rows.map(({ thread_id, turns: n }) => [thread_id, n]);
        expect(threads).toEqual(
          expect.arrayContaining([
            [undefined, 4],
            [alice.thread_id, 1],
          ]),
        );
        const days = (await usage('day')).rows.map(({ day }) => day);
        expect(days.at(-1)).toBe(new Date().toISOString().slice(0, 10));
        const models = (await usage('model')).rows.map(({ model = '' }) => model);
        expect(models).toEqual([expect.stringMatching(agent === 'codex' ? /^gpt/ : /^claude/)]);
      }
    },
  );

  test(
    'Claude Code and Codex under parley run, with nothing registered: their turns are told, also those of an outage',
    LONG,
    async () => {
      const folder = temporaryFolder();
      let hub = await startHub(folder);

      async function begin([agent, open]: (typeof AGENTS)[number]) {
        const terminal = await open(undefined);
        const usage = await usageOf(() => hub, agent);
        const turns = async () => (await usage()).total.turns;
        const env = { ...terminal.place.env, TERM: 'xterm-256color' };
        const program = [terminal.place.bin, ...terminal.words];
        const person = await runSupervised(hub, agent, program, { env, cwd: terminal.place.place.work });
        await person.sees(terminal.prompt);
        await say(person, terminal, 'remember the word melon');
        await expect.poll(turns, PATIENT).toBe(1);
        return { terminal, person, usage, turns };
      }

      const all = await Promise.all(AGENTS.map(begin));
      const port = Number(new URL(hub.url).port);
      await hub.end('SIGKILL');
      await Promise.all(all.map(({ person, terminal }) => say(person, terminal, 'and the word cherry')));
      hub = await startHub(folder, { port });
      for (const { terminal, usage, turns } of all) {
        await expect.poll(turns, PATIENT).toBe(2);
        expect((await usage()).total).toMatchObject({
          input_tokens: terminal.asked() * READ,
          output_tokens: terminal.asked() * WROTE,
        });
      }
    },
  );
});
