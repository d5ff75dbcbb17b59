import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { vi } from 'vitest';

import { requireTool } from '../tools/tools.ts';

/** A Prometheus that scrapes one target as fast as it can. */
export interface Prometheus {
  /** The value of an expression with one result; undefined when it has none. */
  query(expression: string): Promise<number | undefined>;
  /** Waits for so many further scrapes. */
  scraped(count: number): Promise<void>;
  close(): Promise<void>;
}

const PATIENCE = { timeout: 45_000, interval: 50 };

/** Starts the real thing on loopback with a folder of its own. */
export async function startPrometheus(target: string, secret: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-prometheus-'));
  writeFileSync(join(folder, 'secret'), secret, { mode: 0o600 });
  const config = {
    global: { scrape_interval: '300ms', scrape_timeout: '300ms' },
    scrape_configs: [
      {
        job_name: 'parley',
        scrape_timeout: '300ms',
        authorization: { credentials_file: join(folder, 'secret') },
        static_configs: [{ targets: [new URL(target).host] }],
      },
    ],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    requireTool('prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  async function query(expression: string): Promise<number | undefined> {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { status, data } = (await (await fetch(url)).json()) as {
      status: string;
      data: { result: { value: [number, string] }[] };
    };
    if (status !== 'success') throw new Error(`${expression}: ${status}`);
    if (data.result.length > 1) throw new Error(`${expression}: ${data.result.length} results`);
    return data.result[0] === undefined ? undefined : Number(data.result[0].value[1]);
  }
  const samples = async (): Promise<number> =>
    (await query('count_over_time(parley_store_writable[1d])')) ?? 0;
  const prometheus: Prometheus = {
    query,
    async scraped(count) {
      const before = await samples();
      await vi.waitFor(async () => {
        if ((await samples()) < before + count) throw new Error(`too few scrapes; ${said}`);
      }, PATIENCE);
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await vi.waitFor(async () => {
      if ((await query('max_over_time(up[1d])')) !== 1) throw new Error(`no scrape; ${said}`);
    }, PATIENCE);
  } catch (error) {
    await prometheus.close();
    throw error;
  }
  return prometheus;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
