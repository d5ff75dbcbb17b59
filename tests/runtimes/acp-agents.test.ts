import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type ManagedOptions,
  openManagedAcp,
  scriptedModelConfig,
  startOpenaiResponses,
} from '@parley/runtimes';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openIsolatedHome } from '../agents/isolated-home.ts';
import { describeWith } from '../tools/describe-with.ts';

vi.setConfig({ testTimeout: 180_000 });

/** A real agent in a home of its own, and what its model was shown. */
interface Place {
  options: Pick<ManagedOptions, 'bin' | 'args' | 'env' | 'cwd'>;
  asked(): string[];
}

const never = new Promise<void>(() => {});

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
    asked: () => model.requests.map(({ body }) => JSON.stringify(body.input)),
  };
}

async function open(place: Place, resume?: string) {
  const session = await openManagedAcp({
    ...place.options,
    ...(resume === undefined ? {} : { resume }),
    clientInfo: { name: 'parley', version: '0' },
    on: {
      report: () => {},
      ask: () => {},
      askClosed: () => {},
      exit: () => {},
    },
  });
  onTestFinished(() => session.close());
  return session;
}

describeWith(['codex-acp', 'codex'], 'a real Codex by its ACP adapter', (tools) => {
  test('works, is interrupted, and goes on in a new process', async () => {
    const place = await codexPlace(tools['codex-acp'], tools.codex);
    const session = await open(place);
    const first = session.prompt('remember the word melon');
    expect(await first.started).toBe('runtime_status');
    expect(await first.ended).toMatchObject({ status: 'completed', text: 'ready' });
    const second = session.prompt('SLOW');
    await second.started;
    expect(await session.cancel()).toBe(true);
    expect(await second.ended).toMatchObject({ status: 'interrupted' });
    await session.close();
    const again = await open(place, session.facts.sessionId);
    expect(await again.prompt('go on').ended).toMatchObject({ status: 'completed', text: 'ready' });
    expect(place.asked().at(-1)).toContain('melon');
  });
});
