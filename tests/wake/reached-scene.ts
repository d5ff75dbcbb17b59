import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  CLAUDE_KEY,
  pastFirstQuestions,
  QUIET_CLAUDE,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';
import { sqliteModule } from '@parley/sqlite';
import { expect, onTestFinished } from 'vitest';

import type { ToolCall } from '../agents/agent-run.ts';
import { openIsolatedHome } from '../agents/isolated-home.ts';
import { stepsOfClaude } from '../agents/run-claude.ts';
import { stepsOfCodex } from '../agents/run-codex.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { clientOf, ok } from '../faults/hub-client.ts';
import { runCli } from '../harness/run-cli.ts';
import { type Person, sitDown } from '../supervisor/person.ts';
import { requireTool } from '../tools/tools.ts';
import { processesOf } from './managed-scene.ts';

export const PATIENT = { timeout: 90_000, interval: 150 };

type Runtime = 'codex' | 'claude';

/** A program that a person has connected with `parley init` and nothing else, before a scripted model. */
export interface Connected {
  open(): Promise<Person>;
  /** What stands at an empty prompt, and at one with a draft. */
  prompt: RegExp;
  draft: RegExp;
  /** When its model was first shown a wake for a thread, on the monotonic clock. */
  shownAt(thread: string): number | undefined;
  /** How often its model was given a wake for a thread. */
  wakes(thread: string): number;
}

const WAKE = /unread messages in thread (th_\w+) from [^(]*\(wake (wk_\w+),/g;

/** Keeps which wakes a model was shown, when, and how often each stands in what it is shown. */
function createMemory() {
  const seen = new Map<string, { thread: string; at: number; times: number }>();
  return {
    note(text: string): void {
      const found = [...text.matchAll(WAKE)];
      for (const [, thread = '', wake = ''] of found) {
        const { at = performance.now(), times = 0 } = seen.get(wake) ?? {};
        const now = found.filter(([, , one]) => one === wake).length;
        seen.set(wake, { thread, at, times: Math.max(times, now) });
      }
    },
    shownAt: (thread: string) => [...seen.values()].find((one) => one.thread === thread)?.at,
    wakes: (thread: string) =>
      [...seen.values()].filter((one) => one.thread === thread).reduce((sum, { times }) => sum + times, 0),
  };
}

/** Ends what a runtime keeps running behind its terminal, and removes its home. */
async function clearAway(place: { root: string; remove(): Promise<void> }): Promise<void> {
  const end = (): number[] => {
    const left = processesOf(place.root).filter((pid) => pid !== process.pid);
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
    return left;
  };
  await expect.poll(end, PATIENT).toEqual([]);
  await place.remove();
}

/** What a model does, by all that it is shown. */
type Mind = (shown: string) => ToolCall[];

interface Making {
  work: string;
  home: string;
  /** Keeps what the model was shown. */
  note: (text: string) => void;
  mind: Mind;
}

const MAKERS: Record<Runtime, (making: Making) => Promise<Made>> = {
  async codex({ work, home, note, mind }) {
    const model = await startOpenaiResponses((request) => {
      const text = JSON.stringify(request.body.input);
      note(text);
      // Codex also asks for a title, without tools.
      return stepsOfCodex(request, request.body.tools.length === 0 ? [] : mind(text), SERVER);
    });
    const folder = path.join(home, '.codex');
    await mkdir(folder);
    const trusted = `[projects.${JSON.stringify(work)}]\ntrust_level = "trusted"\n`;
    await writeFile(path.join(folder, 'config.toml'), `${scriptedModelConfig(model.url)}\n${trusted}`);
    return { model, env: { CODEX_HOME: folder }, prompt: /^› Ask Codex/m, draft: /^› half typed/m };
  },
  async claude({ work, home, note, mind }) {
    const model = await startAnthropicMessages((request) => {
      const text = JSON.stringify(request.body.messages);
      note(text);
      return stepsOfClaude(request, mind(text), SERVER);
    });
    const folder = path.join(home, '.claude');
    await mkdir(folder);
    await writeFile(path.join(folder, '.claude.json'), JSON.stringify(pastFirstQuestions(work)));
    const permissions = { allow: [`mcp__${SERVER}`] };
    await writeFile(path.join(folder, 'settings.json'), JSON.stringify({ permissions }));
    const env = {
      ...QUIET_CLAUDE,
      CLAUDE_CONFIG_DIR: folder,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
    };
    return { model, env, prompt: /^❯\s*$/m, draft: /❯\shalf typed/ };
  },
};

/** The name under which `parley init` registers the hub's tools. */
const SERVER = 'parley';

interface Made extends Pick<Connected, 'prompt' | 'draft'> {
  model: { close(): Promise<void> };
  env: Record<string, string>;
}

/** Connects a real program to the hub of a folder; its model calls the tools that it has a mind to, or none. */
export async function connectRuntime(
  runtime: Runtime,
  data: string,
  { mind = () => [], workspace = 'w' }: { mind?: Mind; workspace?: string } = {},
): Promise<Connected> {
  const place = await openIsolatedHome();
  onTestFinished(() => clearAway(place));
  const memory = createMemory();
  const {
    model,
    env: own,
    ...look
  } = await MAKERS[runtime]({ work: place.work, home: place.home, note: (text) => memory.note(text), mind });
  onTestFinished(() => model.close());
  const env = { ...place.env, ...own, TERM: 'xterm-256color' };
  const bin = requireTool(runtime);
  const { code, stderr } = await runCli(['init', runtime, '--bin', bin, '--workspace', workspace], {
    data,
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return { ...memory, ...look, open: () => sitDown([bin], { env, cwd: place.work }) };
}

/** A hub with nothing set, which can be killed and come back at the same place. */
export async function openHub() {
  const folder = temporaryFolder();
  let hub: CrashHub = await startHub(folder);
  const port = Number(new URL(hub.url).port);
  const as = async (agent: string, role = 'worker') => {
    const client = clientOf(hub.url, agent, await tokenFor(folder, agent, { role }));
    return async <T = Record<string, unknown>>(name: string, input: unknown): Promise<T> =>
      ok(await client.call<T>(name, input));
  };
  return {
    folder,
    as,
    kill: () => hub.signal('SIGKILL'),
    /** From the moment in which a wake for a thread is on its way nothing can be written, until the answer is called. */
    async freezeAtDelivery(thread: string): Promise<() => void> {
      const db = new (sqliteModule().DatabaseSync)(path.join(folder, 'parley.db'), { timeout: 1_000 });
      const sent = db.prepare(
        `SELECT count(*) AS count FROM entries
         WHERE json ->> '$.type' = 'agent.command' AND instr(json, ?) > 0`,
      );
      const until = performance.now() + PATIENT.timeout;
      while (Number(sent.get(thread)?.['count']) === 0) {
        if (performance.now() > until) throw new Error('no wake was on its way');
        await new Promise(setImmediate);
      }
      db.exec('BEGIN IMMEDIATE');
      return () => db.close();
    },
    async restart(): Promise<void> {
      await hub.end('SIGKILL');
      hub = await startHub(folder, { port });
    },
  };
}
