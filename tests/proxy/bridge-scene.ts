import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { type Client, createClient } from '@parley/client';
import { type TeamMail, openMail } from '@parley/mail';
import type { Message } from '@parley/protocol';
import { afterEach, beforeEach } from 'vitest';

import { issueToken } from '../harness/tokens.ts';
import { eventually, useHubScene } from './hub-scene.ts';
import { openPlace, type Place, PROGRAM, until } from './proxy-client.ts';

/** `atm-agent-mcp bridge` as a process, and what it said. */
export interface BridgeProcess {
  pid: number;
  events: Record<string, unknown>[];
  stderr(): string;
  /** Waits for an event of this name, after those that were there before. */
  said(event: string, times?: number): Promise<Record<string, unknown>>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** For a test file: a fresh workspace and home for each test, and bridges that do not outlive it. */
export function useBridges() {
  const scene = useHubScene();
  let place: Place;
  let running: ChildProcess[];
  beforeEach(() => {
    place = openPlace();
    running = [];
  });
  afterEach(async () => {
    for (const child of running) child.kill('SIGKILL');
    await place.remove();
  });

  const run = (args: string[], env: Record<string, string> = {}): BridgeProcess => {
    const child = spawn(process.execPath, [PROGRAM, 'bridge', '--json', ...args], {
      cwd: place.work,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: place.home, ATM_HOME: place.home, ...scene().env, ...env },
    });
    running.push(child);
    const events: Record<string, unknown>[] = [];
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    createInterface({ input: child.stdout }).on('line', (line) =>
      events.push(JSON.parse(line) as Record<string, unknown>),
    );
    const ended = once(child, 'close').then(([code]) => code as number | null);
    return {
      pid: child.pid ?? 0,
      events,
      stderr: () => stderr,
      said: (event, times = 1) =>
        until(
          () => events.filter((one) => one['event'] === event)[times - 1] ?? failed(child, event, stderr),
        ),
      end(signal) {
        child.kill(signal);
        return ended;
      },
    };
  };

  return {
    place: () => place,
    scene,
    run,
    /** Starts a bridge and waits until it is linked. */
    link: async (team = 'default', args: string[] = []): Promise<BridgeProcess> => {
      const bridge = run(['--team', team, ...args]);
      await bridge.said('linked');
      return bridge;
    },
    /** The team's mail as its other programs use it. */
    desk: (team = 'default'): TeamMail =>
      openMail({
        teams: join(place.home, '.claude', 'teams'),
        archive: join(place.home, '.config', 'atm', 'mail'),
        team,
        now: () => new Date(),
        newId: randomUUID,
        log: () => {},
      }),
    /** An agent of the workspace that has nothing to do with the team. */
    agent: async (name: string): Promise<Client> => {
      const { data, workspace } = scene();
      const { token } = await issueToken({ agent: name, workspace }, { data });
      return createClient({ url: () => scene().hub.url, token });
    },
    /** Waits until the hub has this many threads of mail. */
    threads: (count: number): Promise<{ title: string; thread_id: string }[]> =>
      eventually(async () => {
        const { threads } = await scene().person.list_threads({ limit: 200 });
        const found = threads.filter(({ title }) => title.startsWith('Mail: '));
        return found.length >= count && found;
      }),
    /** All that was said in a thread. */
    messages: (thread_id: string): Promise<Message[]> => readAll(scene().person, thread_id),
    /** Waits until a thread has this many messages. */
    said: (thread_id: string, count: number): Promise<Message[]> =>
      eventually(async () => {
        const found = await readAll(scene().person, thread_id);
        return found.length >= count && found;
      }),
  };
}

/** What was said in a thread, without what the hub notes of it. */
async function readAll(client: Client, thread_id: string): Promise<Message[]> {
  const found: Message[] = [];
  for (let since_seq = 0; ;) {
    const page = await client.read_messages({ thread_id, since_seq, limit: 200 });
    found.push(...page.messages.filter(({ kind }) => kind !== 'system'));
    if (!page.has_more) return found;
    since_seq = page.next_seq;
  }
}

function failed(child: ChildProcess, event: string, stderr: string): undefined {
  if (child.exitCode === null && child.signalCode === null) return undefined;
  throw new Error(`the bridge ended before it said ${event}: ${stderr}`);
}
