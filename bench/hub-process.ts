import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built hub, or that of another build to compare with: its `parley.mjs`. */
export const BIN =
  process.env['BENCH_HUB'] ?? fileURLToPath(new URL('../packages/hub/bin/parley.mjs', import.meta.url));

export interface HubProcess {
  url: string;
  port: number;
  pid: number;
  data: string;
  token(agent: string, role?: string, workspace?: string): string;
  call<T = Record<string, unknown>>(token: string, operation: string, input: unknown): Promise<T>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A fresh data folder outside memory file systems. */
export function freshFolder(): string {
  return mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'parley-bench-'));
}

/** Removes a folder made for a run. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

const settingsByBin = new Map<string, string>();

/** The settings that a build knows: another one may not know every one of ours. */
function settingsOf(bin: string): string {
  const known = settingsByBin.get(bin) ?? execFileSync(process.execPath, [bin, 'config', '--doc']).toString();
  settingsByBin.set(bin, known);
  return known;
}

/** Starts the built hub, or the one of another build, as a user would, with its log lines going nowhere. */
export async function startHub(
  data: string,
  settings: Record<string, string | number> = {},
  prefix: string[] = [],
  bin = BIN,
): Promise<HubProcess> {
  const known = settingsOf(bin);
  const set = Object.entries({
    'quota.messages_per_minute': 100_000_000,
    'quota.messages_burst': 10_000_000,
    'quota.writes_per_minute': 100_000_000,
    'quota.writes_burst': 10_000_000,
    'quota.searches_per_minute': 100_000_000,
    'quota.searches_burst': 10_000_000,
    'quota.open': 100_000,
    ...settings,
  }).filter(([key]) => known.includes(`\`${key}\``));
  const args = [
    bin,
    'serve',
    '--json',
    '--data',
    data,
    '--port',
    '0',
    ...set.flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  ];
  const [command = process.execPath, ...before] = prefix.length === 0 ? [process.execPath] : prefix;
  const child = spawn(command, [...before, ...args], {
    stdio: ['ignore', 'pipe', process.env['BENCH_LOG'] === undefined ? 'ignore' : 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text);
    });
    child.once('exit', (code) => reject(new Error(`the hub ended with code ${code}`)));
  });
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  return {
    url,
    pid,
    data,
    port: Number(new URL(url).port),
    token: (agent, role = 'orchestrator', workspace) => {
      const out = execFileSync(process.execPath, [
        bin,
        'token',
        'issue',
        '--data',
        data,
        '--agent',
        agent,
        '--role',
        role,
        ...(workspace === undefined ? [] : ['--workspace', workspace]),
        '--json',
      ]);
      return (JSON.parse(out.toString()) as { token: string }).token;
    },
    async call<T>(token: string, operation: string, input: unknown) {
      const response = await fetch(`${url}/v1/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
      if (!response.ok) throw new Error(`${operation}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
    stop: (signal = 'SIGTERM') =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        process.kill(pid, signal);
      }),
  };
}
