import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { freshPath, parley, parleyJson } from './parley.ts';

interface Row {
  path: string;
  value: unknown;
  origin: string;
  variable: string;
}

function configFile(text: string): string {
  const path = freshPath('config.toml');
  writeFileSync(path, text);
  return path;
}

async function valuesOf(args: string[], env: Record<string, string> = {}): Promise<Map<string, Row>> {
  const { values } = await parleyJson<{ values: Row[] }>(['config', ...args], { env });
  return new Map(values.map((row) => [row.path, row]));
}

test('each value says where it came from; the later source holds', async () => {
  const file = configFile(
    'port = 1111\n[quota]\nmessages_per_minute = 7\n[http]\nallowed_hosts = ["a", "b"]\n',
  );
  const values = await valuesOf(['--config', file, '--data', '/nowhere'], {
    PARLEY_PORT: '2222',
    PARLEY_HTTP_ALLOWED_ORIGINS: 'https://a.example,https://b.example',
  });
  expect(values.get('port')).toMatchObject({ value: 2222, origin: 'env', variable: 'PARLEY_PORT' });
  expect(values.get('quota.messages_per_minute')).toMatchObject({ value: 7, origin: 'file' });
  expect(values.get('http.allowed_hosts')).toMatchObject({ value: ['a', 'b'], origin: 'file' });
  expect(values.get('http.allowed_origins')?.value).toEqual(['https://a.example', 'https://b.example']);
  expect(values.get('data')).toMatchObject({ value: '/nowhere', origin: 'flag' });
  expect(values.get('host')).toMatchObject({ value: '127.0.0.1', origin: 'default' });
});

test('no secret of it is shown, on either output', async () => {
  const env = { PARLEY_SUMMARY_ENDPOINT: 'http://app:hunter2@127.0.0.1/v1' };
  for (const more of [[], ['--json']]) {
    const { stdout, stderr, code } = await parley(['config', ...more, '--data', freshPath()], { env });
    expect([code, stdout.includes('http://app:[redacted]@127.0.0.1/v1')]).toEqual([0, true]);
    expect(stdout + stderr).not.toContain('hunter2');
  }
});

test('the usual file is found without being named', async () => {
  const home = freshPath('config');
  const file = join(home, 'parley', 'config.toml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'port = 1234\n');
  const env = { XDG_CONFIG_HOME: home };
  expect((await valuesOf([], env)).get('port')).toMatchObject({ value: 1234, origin: 'file' });
  expect(await parleyJson(['config', 'path'], { env })).toMatchObject({ file, exists: true });
});

const faults: [string, string[], Record<string, string>, string][] = [
  ['an unknown key in the file', ['--config', configFile('prot = 1\n')], {}, 'prot'],
  ['an unknown group in the file', ['--config', configFile('[quotas]\nx = 1\n')], {}, 'quotas'],
  ['a wrong type in the file', ['--config', configFile('port = "x"\n')], {}, 'port'],
  ['a file that is no TOML', ['--config', configFile('port = = 1\n')], {}, 'config.toml'],
  ['a value out of range', [], { PARLEY_PORT: '70000' }, 'port'],
  ['a list that is no JSON', [], { PARLEY_HTTP_ALLOWED_HOSTS: '[x' }, 'http.allowed_hosts'],
];

test.each(faults)('%s is an error that names it', async (_what, args, env, named) => {
  const { code, stderr, stdout } = await parley(['config', ...args], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(named);
});

test('an unknown variable is told of, and nothing more: it may be meant for another program', async () => {
  const { code, stderr } = await parley(['config'], { env: { PARLEY_PROT: '1' } });
  expect(code).toBe(0);
  expect(stderr).toContain('PARLEY_PROT sets nothing');
});

test('serve takes any setting as a flag and refuses one that is not there', async () => {
  const unknown = await parley(['serve', '--set', 'quota.nothing=1', '--data', freshPath()]);
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain('nothing');
  const inside = await parley(['serve', '--set', 'data.x=1', '--data', freshPath()]);
  expect(inside).toMatchObject({ code: 2 });
});

test('a file that is not there is named', async () => {
  const { code, stderr } = await parley(['config', '--config', '/nowhere/config.toml']);
  expect(code).toBe(3);
  expect(stderr).toContain('/nowhere/config.toml');
});

test('docs/configuration.md is what config --doc prints (npm run docs writes it)', async () => {
  const path = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));
  const { stdout } = await parley(['config', '--doc']);
  expect(readFileSync(path, 'utf8')).toBe(stdout);
});
