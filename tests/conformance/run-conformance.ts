/** Runs the official MCP conformance suite against a server of ours; FIXTURES.md says what the suite calls. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireTool } from '../tools/tools.ts';

/** One observation of the suite; only `FAILURE` breaks a requirement, `WARNING` marks a SHOULD. */
export interface ConformanceCheck {
  id: string;
  name: string;
  description: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
  details?: unknown;
}

/** What one scenario found; `scored` ones decide whether the revision is met. */
export interface ConformanceResult {
  scenario: string;
  scored: boolean;
  passed: boolean;
  warnings: string[];
  failures: string[];
  checks: ConformanceCheck[];
}

/** The two revisions for which the suite has a frozen list of requirements. */
export type Revision = '2025-11-25' | '2026-07-28';

const preload = fileURLToPath(new URL('./send-token.mjs', import.meta.url));

/** Runs every server scenario of one revision, each on that revision's wire, in 2 to 4 s. */
export async function runConformance(target: {
  url: string;
  revision: Revision;
  token?: string;
  timeoutMs?: number;
}): Promise<ConformanceResult[]> {
  const output = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    const { code, log } = await runSuite(target, output);
    const results = await readResults(output, await scoredScenarios(target.revision));
    if (results.length === 0) throw new Error(`the suite reported nothing (exit ${code}):\n${log}`);
    return results;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

function runSuite(
  target: { url: string; revision: Revision; token?: string; timeoutMs?: number },
  output: string,
): Promise<{ code: number | null; log: string }> {
  const suite = [
    requireTool('conformance'),
    'server',
    '--url',
    target.url,
    '--requirements',
    target.revision,
    '-o',
    output,
  ];
  const args = target.token === undefined ? suite : ['--import', preload, ...suite];
  const env = {
    PATH: process.env['PATH'],
    NO_COLOR: '1',
    CONFORMANCE_URL: target.url,
    CONFORMANCE_TOKEN: target.token,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(requireTool('node22'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    const keep = (chunk: Buffer): void => {
      log = (log + chunk.toString()).slice(-8000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => child.kill('SIGKILL'), target.timeoutMs ?? 120_000);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal === null) resolve({ code, log });
      else reject(new Error(`the conformance suite was ended by ${signal}:\n${log}`));
    });
  });
}

async function readResults(output: string, scored: Set<string>): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = [];
  for (const folder of await readdir(output)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\dZ-]+$/.exec(folder)?.[1];
    if (scenario === undefined) continue;
    const found = await readFile(path.join(output, folder, 'checks.json'), 'utf8').catch(() => undefined);
    const checks = JSON.parse(found ?? '[]') as ConformanceCheck[];
    const failures = found === undefined ? ['the scenario broke off'] : messages(checks, 'FAILURE');
    results.push({
      scenario,
      scored: scored.has(scenario),
      passed: failures.length === 0,
      warnings: messages(checks, 'WARNING'),
      failures,
      checks,
    });
  }
  return results;
}

function messages(checks: ConformanceCheck[], status: ConformanceCheck['status']): string[] {
  return checks
    .filter((check) => check.status === status)
    .map((check) => `${check.id}: ${check.errorMessage ?? check.description}`);
}

// The frozen list stands in the suite's own package; its `server:` block is a plain YAML list.
async function scoredScenarios(revision: Revision): Promise<Set<string>> {
  const file = path.join(requireTool('conformance'), '..', '..', 'requirements', `${revision}.yaml`);
  const block = /^server:\n((?: {2}- .+\n)+)/m.exec(await readFile(file, 'utf8'))?.[1] ?? '';
  return new Set([...block.matchAll(/- (\S+)/g)].map((match) => match[1] ?? ''));
}
