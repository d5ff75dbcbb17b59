import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from './free-port.ts';

/** A real Qdrant on loopback, which can be ended, frozen and started again. */
export interface QdrantProcess {
  url: string;
  key: string;
  /** Deletes all collections. */
  empty(): Promise<void>;
  collections(): Promise<string[]>;
  /** It still takes connections, and answers nothing. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Starts it again on the same port; `fresh` without anything it had. */
  again(how?: { fresh: boolean }): Promise<void>;
  close(): Promise<void>;
}

const KEY = 'a-key-that-only-the-tests-know';
const READY_MS = 60_000;

/** Starts Qdrant with a key and a folder of its own, and nothing sent to its makers. */
export async function startQdrant(program: string): Promise<QdrantProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-qdrant-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let exit: Promise<unknown> = Promise.resolve();

  async function call<T>(method: string, path: string): Promise<T> {
    const response = await fetch(`${url}${path}`, { method, headers: { 'api-key': KEY } });
    return ((await response.json()) as { result: T }).result;
  }

  async function begin(): Promise<void> {
    const started = spawn(program, ['--disable-telemetry'], {
      cwd: folder,
      stdio: 'ignore',
      env: {
        QDRANT__SERVICE__HOST: '127.0.0.1',
        QDRANT__SERVICE__HTTP_PORT: String(port),
        QDRANT__SERVICE__API_KEY: KEY,
        QDRANT__TELEMETRY_DISABLED: 'true',
        QDRANT__STORAGE__STORAGE_PATH: join(folder, 'storage'),
        QDRANT__STORAGE__SNAPSHOTS_PATH: join(folder, 'snapshots'),
        QDRANT__LOG_LEVEL: 'ERROR',
      },
    });
    child = started;
    exit = new Promise((resolve) => started.once('close', resolve));
    const until = Date.now() + READY_MS;
    while (!(await isReady())) {
      if (started.exitCode !== null || Date.now() > until) throw new Error('Qdrant did not start');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );

  async function kill(): Promise<void> {
    child?.kill('SIGKILL');
    await exit;
  }

  async function collections(): Promise<string[]> {
    const found = await call<{ collections: { name: string }[] }>('GET', '/collections');
    return found.collections.map(({ name }) => name);
  }

  await begin();
  return {
    url,
    key: KEY,
    collections,
    async empty() {
      for (const name of await collections()) await call('DELETE', `/collections/${name}`);
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill,
    async again({ fresh } = { fresh: false }) {
      await kill();
      if (fresh) rmSync(join(folder, 'storage'), { recursive: true, force: true });
      await begin();
    },
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
