import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { PROGRAM } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { place } = useProxies();
const root = fileURLToPath(new URL('../..', import.meta.url));

function run(args: string[], env: Record<string, string> = {}, program = PROGRAM) {
  return spawnSync(process.execPath, [program, ...args], {
    cwd: place().work,
    env: { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home, ...env },
    input: '',
    encoding: 'utf8',
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface Printed {
  files: { user: string | null; repo: string | null };
  values: { key: string; value: unknown; origin: string }[];
}

test('[FR-13.4] [FR-12.3] [C-PROXY-40] config prints each value and where it came from', () => {
  const user = join(place().home, '.config/atm/config.toml');
  const repo = join(place().work, '.atm.toml');
  write(
    user,
    '[core]\ndefault_team = "blue"\n[plugins.atm-agent-mcp]\nmodel = "m"\nreasoning_effort = "low"',
  );
  write(repo, '[plugins.atm-agent-mcp]\nmodel = "n"\ncodex_bin = "./evil"');
  const { status, stdout } = run(['config', '--json', '--timeout', '7'], {
    ATM_AGENT_MCP_SANDBOX: 'read-only',
  });
  expect(status).toBe(0);
  const { files, values } = JSON.parse(stdout) as Printed;
  expect(files).toMatchObject({ user, repo });
  const reported = new Map(values.map(({ key, value, origin }) => [key, [value, origin]]));
  expect(Object.fromEntries(reported)).toMatchObject({
    team: ['blue', 'user'],
    reasoning_effort: ['low', 'user'],
    model: ['n', 'repo'],
    sandbox: ['read-only', 'env'],
    request_timeout_secs: [7, 'flag'],
    codex_bin: ['codex', 'default'],
  });
  const lines = run(['config']).stdout;
  expect(lines).toMatch(/^model +"n" +repo$/m);
  expect(lines).toContain('ignored: codex_bin');
});

test('[C-PROXY-40] [NFR-3] what looks like a secret is not printed', () => {
  const { stdout } = run(['config', '--set', 'model=sk-abcdefghijklmnop'], {});
  expect(stdout).toContain('[redacted]');
  expect(stdout).not.toContain('abcdefghijklmnop');
});

test('[FR-13.7] --fast, --subagents, --readonly and --explore settle what they are short for', () => {
  const settled = (...flags: string[]): Record<string, unknown> => {
    const { values } = JSON.parse(
      run(['config', '--json', '--set', 'fast_model=quick', ...flags]).stdout,
    ) as Printed;
    return Object.fromEntries(values.map(({ key, value }) => [key, value]));
  };
  expect(settled()).toMatchObject({ model: null, subagents: false, sandbox: 'workspace-write' });
  expect(settled('--fast')).toMatchObject({ model: 'quick' });
  expect(settled('--fast', '--model', 'own')).toMatchObject({ model: 'own' });
  expect(settled('--subagents')).toMatchObject({ subagents: true });
  for (const flag of ['--readonly', '--explore'])
    expect(settled(flag)).toMatchObject({ sandbox: 'read-only' });
});

test('[FR-13.1] [FR-13.2] help tells the commands and their flags', () => {
  const help = run(['--help']);
  expect(help.status).toBe(0);
  for (const word of ['serve', 'config', '--json', 'Exit codes']) expect(help.stdout).toContain(word);
  const serve = run(['serve', '--help']).stdout;
  for (const flag of ['--identity', '--role', '--timeout', '--fast', '--subagents', '--readonly'])
    expect(serve).toContain(flag);
});

test('exit codes: 2 for a wrong command line or configuration', () => {
  expect(run(['nope']).status).toBe(2);
  expect(run(['config', '--sandbox', 'none']).status).toBe(2);
  expect(run(['config', '--set', 'no_such=1']).status).toBe(2);
  expect(JSON.parse(run(['config', '--json', '--identity', '../x']).stdout)).toMatchObject({
    error: { code: 'VALIDATION_ERROR' },
  });
  const role = run(['serve', '--role', 'none']);
  expect(role.status).toBe(2);
  expect(role.stderr).toContain("there is no role 'none'; there are: none");
  write(join(place().home, '.config/atm/config.toml'), 'not toml =');
  const broken = run(['serve']);
  expect(broken.status).toBe(2);
  expect(broken.stderr).toContain('config.toml');
});

test('[NFR-5] logs are JSON lines of the level that is asked for', () => {
  const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { secret: 'sk-abcdefghijkl' } })}\n`;
  const levels = (level: string): { level: string; msg: string; text?: string }[] =>
    spawnSync(process.execPath, [PROGRAM, 'serve', '--set', `log_level=${level}`], {
      cwd: place().work,
      env: { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home },
      input,
      encoding: 'utf8',
    })
      .stderr.trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
  expect(levels('silent')).toEqual([]);
  expect(new Set(levels('info').map(({ level }) => level))).toEqual(new Set(['info']));
  expect(levels('debug')).toContainEqual(
    expect.objectContaining({ level: 'debug', msg: 'the client sent a message', method: 'ping' }),
  );
  const traced = levels('trace').filter(({ level }) => level === 'trace');
  expect(traced.map(({ msg }) => msg)).toEqual(['from the client', 'to the client']);
  expect(JSON.stringify(traced)).toContain('[redacted]');
  expect(JSON.stringify(traced)).not.toContain('abcdefghijkl');
});

test('all state lies under ATM_HOME', () => {
  const elsewhere = join(place().root, 'elsewhere');
  mkdirSync(elsewhere);
  expect(run(['serve'], { HOME: elsewhere }).status).toBe(0);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(existsSync(join(place().home, '.config/atm/agent-sessions/default/codex.lock'))).toBe(true);
});

test('the packed program runs where nothing else of this repository is', () => {
  const folder = join(place().root, 'packed');
  mkdirSync(folder);
  const npm = (args: string[], cwd: string) =>
    execFileSync('npm', [...args, '--ignore-scripts', '--offline', '--no-audit', '--no-fund'], {
      cwd,
      stdio: 'pipe',
      env: { PATH: process.env['PATH'], HOME: place().home },
    });
  const lock = JSON.parse(
    execFileSync(
      process.execPath,
      ['-p', 'JSON.stringify(require("@photostructure/sqlite/package.json").dependencies ?? {})'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    ),
  ) as Record<string, string>;
  const parts = [
    'packages/codex-proxy',
    ...['@photostructure/sqlite', ...Object.keys(lock)].map((name) => `node_modules/${name}`),
  ];
  npm(['pack', '--pack-destination', folder, ...parts.map((path) => join(root, path))], root);
  const packs = readdirSync(folder).map((name) => join(folder, name));
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true}');
  npm(['install', ...packs], folder);
  const program = join(folder, 'node_modules/atm-agent-mcp/bin/atm-agent-mcp.mjs');
  expect(run(['config', '--json'], {}, program).status).toBe(0);
  expect(run(['serve'], {}, program)).toMatchObject({ status: 0 });
  expect(readdirSync(join(folder, 'node_modules/atm-agent-mcp')).toSorted()).toEqual([
    'README.md',
    'bin',
    'dist',
    'package.json',
  ]);
});
