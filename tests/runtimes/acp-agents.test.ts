import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type ManagedAsk,
  type ManagedOptions,
  type ManagedReport,
  opencodeConfig,
  opencodeConfigFile,
  openManagedAcp,
  quietOpencode,
  scriptedModelConfig,
  startOpenaiChat,
  startOpenaiResponses,
} from '@parley/runtimes';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openIsolatedHome } from '../agents/isolated-home.ts';
import { describeWith } from '../tools/describe-with.ts';

vi.setConfig({ testTimeout: 180_000 });
const LONG = { timeout: 60_000 };

/** A real agent in a home of its own, and what its model was shown. */
interface Place {
  options: Pick<ManagedOptions, 'bin' | 'args' | 'env' | 'cwd'>;
  work: string;
  asked(): string[];
}

const never = new Promise<void>(() => {});

async function opencodePlace(bin: string): Promise<Place> {
  const place = await openIsolatedHome();
  const model = await startOpenaiChat(({ messages, tools }) => {
    const last = JSON.stringify(messages.at(-1));
    if (tools === undefined) return [{ text: 'a title' }];
    if (messages.at(-1)?.role === 'tool') return [{ text: 'it is done' }];
    if (last.includes('TOUCH'))
      return [{ call: 'bash', id: 'c1', arguments: { command: 'touch made', description: 'make it' } }];
    return last.includes('SLOW') ? [{ text: 'slowly', hold: never }] : [{ text: 'ready' }];
  });
  const file = opencodeConfigFile(place.home);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(opencodeConfig(model.url)));
  onTestFinished(async () => {
    await model.close();
    await place.remove();
  });
  const env = { ...place.env, ...quietOpencode(place.home) };
  return {
    options: { bin, args: ['acp'], env, cwd: place.work },
    work: place.work,
    asked: () => model.requests.map(({ messages }) => JSON.stringify(messages)),
  };
}

async function codexPlace(adapter: string, codex: string): Promise<Place> {
  const place = await openIsolatedHome();
  const model = await startOpenaiResponses(({ body }) => {
    const last = JSON.stringify(body.input.at(-1));
    if (body.tools.length === 0) return [{ text: 'a title' }];
    return last.includes('SLOW') ? [{ text: 'slowly', hold: never }] : [{ text: 'ready' }];
  });
  const home = path.join(place.home, '.codex');
  await mkdir(home);
  await writeFile(
    path.join(home, 'config.toml'),
    scriptedModelConfig(model.url, { daemon_auto_start: false }),
  );
  onTestFinished(async () => {
    await model.close();
    await place.remove();
  });
  return {
    options: {
      bin: process.execPath,
      args: [adapter],
      env: {
        ...place.env,
        CODEX_HOME: home,
        CODEX_PATH: codex,
        OPENAI_API_KEY: 'scripted',
        CODEX_API_KEY: 'scripted',
      },
      cwd: place.work,
    },
    work: place.work,
    asked: () => model.requests.map(({ body }) => JSON.stringify(body.input)),
  };
}

async function open(place: Place, resume?: string) {
  const asks: ManagedAsk[] = [];
  const reports: ManagedReport[] = [];
  const session = await openManagedAcp({
    ...place.options,
    ...(resume === undefined ? {} : { resume }),
    clientInfo: { name: 'parley', version: '0' },
    on: {
      report: (report) => void reports.push(report),
      ask: (ask) => void asks.push(ask),
      askClosed: () => {},
      exit: () => {},
    },
  });
  onTestFinished(() => session.close());
  return { session, asks, reports };
}

const approved = { decision: 'approved', by: 'ann', device: 'd', at: '2030-01-01T00:00:00Z' } as const;

describeWith(['opencode'], 'a real opencode by ACP', ({ opencode }) => {
  test('works, asks, is interrupted, and goes on in a new process', async () => {
    const place = await opencodePlace(opencode);
    const { session, asks, reports } = await open(place);
    expect(session.facts).toMatchObject({
      runtime: 'opencode',
      version: expect.stringMatching(/^1\./) as string,
    });
    const first = session.prompt('remember the word melon');
    expect(await first.started).toBe('runtime_status');
    expect(await first.ended).toMatchObject({ status: 'completed', text: 'ready' });
    const second = session.prompt('TOUCH');
    await vi.waitFor(() => expect(asks).toHaveLength(1), LONG);
    expect(asks[0]?.content).toMatchObject({ kind: 'approval', command: 'touch made' });
    expect(asks[0]?.content?.options).toMatchObject(
      ['allow_once', 'allow_rule', 'deny'].map((kind) => ({ kind })),
    );
    expect(existsSync(path.join(place.work, 'made'))).toBe(false);
    expect(asks[0]?.answer(approved)).toBe(true);
    expect(await second.ended).toMatchObject({ status: 'completed', text: 'it is done' });
    expect(existsSync(path.join(place.work, 'made'))).toBe(true);
    expect(reports).toMatchObject([{ data: { message: 'ran: touch made', command: 'touch made' } }]);
    const third = session.prompt('SLOW');
    await third.started;
    expect(await session.cancel()).toBe(true);
    expect(await third.ended).toMatchObject({ status: 'interrupted' });
    await session.close();
    const again = await open(place, session.facts.sessionId);
    expect(await again.session.prompt('go on').ended).toMatchObject({ status: 'completed', text: 'ready' });
    expect(again.reports).toEqual([]);
    expect(place.asked().at(-1)).toContain('melon');
  });
});

describeWith(['codex-acp', 'codex'], 'a real Codex by its ACP adapter', (tools) => {
  test('works, is interrupted, and goes on in a new process', async () => {
    const place = await codexPlace(tools['codex-acp'], tools.codex);
    const { session } = await open(place);
    const first = session.prompt('remember the word melon');
    expect(await first.started).toBe('runtime_status');
    expect(await first.ended).toMatchObject({ status: 'completed', text: 'ready' });
    const second = session.prompt('SLOW');
    await second.started;
    expect(await session.cancel()).toBe(true);
    expect(await second.ended).toMatchObject({ status: 'interrupted' });
    await session.close();
    const again = await open(place, session.facts.sessionId);
    expect(await again.session.prompt('go on').ended).toMatchObject({ status: 'completed', text: 'ready' });
    expect(place.asked().at(-1)).toContain('melon');
  });
});
