import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { BackendName, CodexOptions } from '@parley/runtimes';
import type { CodexTool } from '../agents/run-codex.ts';
import { carriers } from '../agents/run-process.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { type CodexScene, openCodexScene } from './codex-scene.ts';

const TSX = import.meta.resolve('tsx');
const OWNER = fileURLToPath(new URL('owner.ts', import.meta.url));

const SUBJECTS: [tool: CodexTool, backend: BackendName][] = [
  ['codex', 'app-server'],
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
];

async function open(
  tool: CodexTool,
  backend: 'auto' | BackendName,
  options: Partial<CodexOptions> = {},
): Promise<CodexScene> {
  const scene = await openCodexScene(tool, backend, options);
  onTestFinished(() => scene.close());
  return scene;
}

const left = async (scene: CodexScene): Promise<string[]> =>
  (await carriers(scene.place.root)).map(({ commandLine }) => commandLine.slice(-60));

/** A signal to a whole group is sent at once; the system takes the last of it away a moment later. */
const nothingLeft = (scene: CodexScene, timeout = 2_000): Promise<void> =>
  vi.waitFor(async () => expect(await left(scene)).toEqual([]), { timeout, interval: 50 });

/** A thread whose turn has said something and goes on. */
async function busy(scene: CodexScene): Promise<{ threadId: string; turn: Promise<unknown> }> {
  const { threadId, turn } = await scene.codex.startThread(scene.thread, { prompt: 'wait for me' });
  await vi.waitFor(() => expect(JSON.stringify(scene.events)).toContain('"delta":"begun for me"'), 10_000);
  return { threadId, turn: turn! };
}

describeWith(['codex', 'codex-0153'], 'the choice of a backend', () => {
  test.each(['codex', 'codex-0153'] as const)(
    '%s is driven by its app-server unless told otherwise',
    async (tool) => {
      const { codex } = await open(tool, 'auto');
      const facts = await codex.start();
      expect(facts).toMatchObject({ backend: 'app-server', native: true, path: requireTool(tool) });
      expect(facts.reason).toMatch(/^codex 0\.1\d\d\.\d+ has an app-server$/);
      expect(facts.userAgent).toContain(facts.version);
    },
  );

  test('mcp-server stays selectable where it exists, and is missed where it does not', async () => {
    const { codex } = await open('codex-0153', 'mcp-server');
    expect(await codex.start()).toMatchObject({ backend: 'mcp-server', version: '0.153.4' });
    const { codex: newest } = await open('codex', 'mcp-server');
    await expect(newest.start()).rejects.toMatchObject({ code: 'BACKEND_MISSING' });
    await expect(newest.listThreads()).rejects.toMatchObject({ code: 'BACKEND_MISSING' });
  });

  test("npm's wrapper leads to the native binary", async () => {
    const native = requireTool('codex');
    const modules = native.slice(0, native.indexOf('@openai'));
    const { codex } = await open('codex', 'auto', { bin: path.join(modules, '.bin', 'codex') });
    expect(await codex.start()).toMatchObject({ path: native, native: true });
  });
});

describeWith(['codex'], 'a wrapper whose native binary is not found', () => {
  test.each(['close', 'SIGKILL'] as const)('goes with its whole group: %s', async (how) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'wrapper-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const bin = path.join(folder, 'codex');
    await writeFile(bin, `#!/bin/sh\n'${requireTool('codex')}' "$@"\nexit $?\n`, { mode: 0o755 });
    const scene = await open('codex', 'auto', { bin });
    const facts = await scene.codex.start();
    expect(facts).toMatchObject({ native: false, path: bin, backend: 'app-server' });
    expect(await left(scene)).toHaveLength(2);
    if (how === 'SIGKILL') process.kill(facts.pid, 'SIGKILL');
    else await scene.codex.close();
    await vi.waitFor(() => expect(scene.exits).toHaveLength(1), 20_000);
    await nothingLeft(scene);
  });
});

for (const [tool, backend] of SUBJECTS) {
  describeWith([tool], `the life of ${tool} ${backend}`, () => {
    test('nothing runs before the first call, nothing after the close', async () => {
      const scene = await open(tool, backend);
      expect(await left(scene)).toEqual([]);
      expect(scene.codex.status('any')).toBe('not_loaded');
      const { pid } = await scene.codex.start();
      expect((await carriers(scene.place.root)).map((process) => process.pid)).toContain(pid);
      const exit = await scene.codex.close();
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(scene.exits).toEqual([exit]);
      expect(await scene.codex.close()).toEqual(exit);
      await nothingLeft(scene);
      await expect(scene.codex.start()).rejects.toMatchObject({ code: 'CLOSED' });
    });

    test('a Codex that was never needed is closed without having run', async () => {
      const scene = await open(tool, backend);
      expect(await scene.codex.close()).toBeUndefined();
      expect(scene.exits).toEqual([]);
    });

    test('a close in the midst of the start leaves nothing', async () => {
      const scene = await open(tool, backend);
      const started = scene.codex.start();
      const refused = expect(started).rejects.toMatchObject({ code: 'CLOSED' });
      await scene.codex.close();
      await refused;
      await nothingLeft(scene);
    });

    test('a killed child fails its turns with what they had said', async () => {
      const scene = await open(tool, backend);
      const { threadId, turn } = await busy(scene);
      const { pid } = await scene.codex.start();
      process.kill(pid, 'SIGKILL');
      expect(await turn).toMatchObject({
        threadId,
        status: 'failed',
        text: 'begun for me',
        error: { code: 'child_exited', exit: { code: null, signal: 'SIGKILL' } },
      });
      expect(scene.exits).toMatchObject([{ signal: 'SIGKILL' }]);
      expect(scene.codex.status(threadId)).toBe('not_loaded');
      await expect(scene.codex.runTurn(threadId, { prompt: 'x' })).rejects.toMatchObject({
        code: 'CHILD_EXITED',
        facts: { exit: { signal: 'SIGKILL' } },
      });
      await nothingLeft(scene);
    });

    test('a close in the midst of a turn, a command and a stuck call leaves nothing', async () => {
      const scene = await open(tool, backend);
      const stuck = await busy(scene);
      await scene.codex.interrupt(stuck.threadId);
      const lingering = await scene.codex.startThread(scene.thread, { prompt: 'linger 301' });
      await lingering.turn;
      expect((await left(scene)).join('\n')).toContain('sleep 301');
      const { turn } = await scene.codex.startThread(scene.thread, { prompt: 'wait again' });
      const asking = await scene.codex.startThread(scene.thread, { prompt: 'run asked' });
      await vi.waitFor(() => expect(scene.codex.pendingApprovals()).toHaveLength(1), 10_000);
      await scene.codex.close();
      expect(await turn).toMatchObject({ status: 'interrupted', error: { code: 'closed' } });
      expect(await asking.turn).toMatchObject({ status: 'interrupted', error: { code: 'closed' } });
      expect(scene.codex.pendingApprovals()).toEqual([]);
      expect(scene.closedApprovals).toEqual([[expect.any(String), 'child_exited']]);
      await nothingLeft(scene);
    });
  });
}

describeWith(['codex', 'codex-0153'], 'an owner of every Codex', () => {
  test('nothing outlives it when it is killed', async () => {
    const scenes = await Promise.all(SUBJECTS.map(([tool, backend]) => open(tool, backend)));
    const given = SUBJECTS.map(([tool, backend], i) => ({
      bin: requireTool(tool),
      backend,
      cwd: scenes[i]?.place.work,
      env: { ...scenes[i]?.place.env, CODEX_HOME: path.join(scenes[i]?.place.home ?? '', '.codex') },
    }));
    const owner = spawn(process.execPath, ['--import', TSX, OWNER, JSON.stringify(given)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const [line] = await once(owner.stdout, 'data');
    expect(String(line)).toBe('ready\n');
    for (const scene of scenes) expect((await left(scene)).join('\n')).toContain('sleep 300');
    owner.kill('SIGKILL');
    for (const scene of scenes) await nothingLeft(scene, 5_000);
  });
});
