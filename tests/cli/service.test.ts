import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { freshPath, PARLEY, parley, startHub } from './parley.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A home of its own, with a manager that notes what it is asked and does it not. */
function machine(answer = 0): { env: Record<string, string>; home: string; asked: () => string[] } {
  const home = freshPath('home');
  const bin = freshPath('bin');
  mkdirSync(home);
  mkdirSync(bin);
  const notes = freshPath('asked');
  writeFileSync(notes, '');
  for (const name of ['systemctl', 'launchctl']) {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\necho "${name} $*" >> ${notes}\necho refused >&2\nexit ${answer}\n`,
    );
    chmodSync(join(bin, name), 0o755);
  }
  return {
    home,
    env: { HOME: home, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    asked: () =>
      readFileSync(notes, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
  };
}

test('a service of the person: a unit that systemd takes without a word, started at once, and gone without a trace', async () => {
  const { env, home, asked } = machine();
  const data = join(home, 'a folder with "quotes", 100% and $HOME');
  const installed = await parley(['service', 'install', '--kind', 'systemd', '--data', data], { env });
  expect(installed.code, installed.stderr).toBe(0);
  const file = join(home, '.config/systemd/user/parley.service');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`ExecStart="${process.execPath}" "${PARLEY}" "serve" "--data" "`);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(asked()).toEqual(['systemctl --user daemon-reload', 'systemctl --user enable --now parley.service']);
  // Again, it is brought up to date.
  expect((await parley(['service', 'install', '--kind', 'systemd', '--data', data], { env })).code).toBe(0);
  expect(asked().at(-1)).toBe('systemctl --user restart parley.service');
  const removed = await parley(['service', 'remove', '--kind', 'systemd', '--data', data], { env });
  expect(removed.code, removed.stderr).toBe(0);
  expect(asked()).toContain('systemctl --user disable --now parley.service');
  expect(existsSync(file)).toBe(false);
  expect(readdirSync(home, { recursive: true }).filter((path) => String(path).includes('parley'))).toEqual(
    [],
  );
  expect((await parley(['service', 'remove', '--kind', 'systemd'], { env })).code).toBe(3);
});

test('systemd has nothing to say against the unit, and starts the very words', async () => {
  const { env, home } = machine();
  const data = join(home, 'a folder with "quotes", 100% and $HOME');
  const { stdout } = await parley(['service', 'install', '--print', '--kind', 'systemd', '--data', data], {
    env,
  });
  const file = join(home, 'parley.service');
  writeFileSync(file, stdout);
  const runtime = freshPath('runtime');
  mkdirSync(runtime);
  const verify = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
    env: { ...process.env, XDG_RUNTIME_DIR: runtime, HOME: home },
    encoding: 'utf8',
  });
  if (verify.error === undefined) expect([verify.status, verify.stderr]).toEqual([0, '']);
  // As systemd reads it: escapes, then %% and $$.
  const words = [...(/^ExecStart=(.*)$/m.exec(stdout)?.[1] ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
    ([, word = '']) => word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  );
  expect(words.slice(1)).toEqual([PARLEY, 'serve', '--data', data]);
});

test('on a Mac a property list, which parses and holds the very words', async () => {
  const { env, home, asked } = machine();
  const data = join(home, 'a <b> & c');
  const args = ['--kind', 'launchd', '--data', data];
  expect((await parley(['service', 'install', ...args], { env })).code).toBe(0);
  const file = join(home, 'Library/LaunchAgents/dev.parley.hub.plist');
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],"rb"))))';
  const told = JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' })) as object;
  expect(told).toMatchObject({
    Label: 'dev.parley.hub',
    ProgramArguments: [process.execPath, PARLEY, 'serve', '--data', data],
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
  });
  expect((await parley(['service', 'remove', ...args], { env })).code).toBe(0);
  expect(asked()).toEqual([
    expect.stringMatching(/^launchctl bootstrap gui\/\d+ .*dev\.parley\.hub\.plist$/),
    expect.stringMatching(/^launchctl bootout gui\/\d+\/dev\.parley\.hub$/),
  ]);
  expect(existsSync(file)).toBe(false);
});

test('a manager that refuses is told of with what to type; a hub that runs by hand, and files of others, are left alone', async () => {
  const refusing = machine(1);
  const args = ['--kind', 'systemd', '--data', join(refusing.home, 'data')];
  const { code, stderr } = await parley(['service', 'install', ...args], { env: refusing.env });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'could not be started (systemctl refused: refused). Try: systemctl --user daemon-reload',
  );
  const hub = await startHub();
  const busy = machine();
  const beside = await parley(['service', 'install', '--kind', 'systemd', '--data', hub.data], {
    env: busy.env,
  });
  expect([beside.code, beside.stderr]).toEqual([
    1,
    expect.stringContaining(`process ${hub.pid}); stop it first`),
  ]);
  expect(busy.asked()).toEqual([]);
  const file = join(busy.home, '.config/systemd/user/parley.service');
  mkdirSync(join(busy.home, '.config/systemd/user'), { recursive: true });
  writeFileSync(file, '[Service]\nExecStart=/bin/true\n');
  expect((await parley(['service', 'remove', '--kind', 'systemd'], { env: busy.env })).code).toBe(1);
  expect(existsSync(file)).toBe(true);
  const secret = ['--store', 'postgres://me:secret@db/parley'];
  const named = await parley(['service', 'install', '--print', '--kind', 'systemd', ...secret], {
    env: busy.env,
  });
  expect([named.code, named.stdout]).toEqual([2, '']);
  expect(named.stderr).not.toContain('secret@');
});

test('whoever removes the service and the data folder has nothing left of it in their home', async () => {
  const { env, home } = machine();
  const words = [PARLEY, 'serve', '--port', '0', '--json'];
  const hub = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(hub.stdout, 'data');
  expect((await parley(['thread', 'new', 'to be forgotten'], { env })).code).toBe(0);
  expect((await parley(['know', 'put', 'Note'], { env, input: '# Note' })).code).toBe(0);
  hub.kill('SIGTERM');
  await once(hub, 'close');
  for (const verb of ['install', 'remove'])
    expect((await parley(['service', verb, '--kind', 'systemd'], { env })).code).toBe(0);
  // As the page on operations says it.
  const { stdout } = await parley(['config', 'path', '--json'], { env });
  const { data } = JSON.parse(stdout) as { data: string };
  expect(data.startsWith(home)).toBe(true);
  rmSync(data, { recursive: true });
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  expect(files.map(({ name }) => name)).toEqual([]);
});

test('the container file installs the tarball that is packed, and does not run as root', () => {
  const text = readFileSync(join(root, 'Containerfile'), 'utf8').replaceAll(/\\\n/g, ' ');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const words = lines.map((line) => line.split(' ')[0]);
  expect(words).toEqual(['FROM', 'COPY', 'RUN', 'USER', 'WORKDIR', 'VOLUME', 'EXPOSE', 'ENTRYPOINT', 'CMD']);
  expect(lines[1]).toBe('COPY packs/parley-hub-*.tgz /tmp/');
  expect(lines[3]).toBe('USER parley');
  for (const line of lines.slice(-2))
    expect(JSON.parse(line.slice(line.indexOf('[')))).toEqual(expect.arrayContaining([expect.any(String)]));
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toContain('!packs/parley-hub-*.tgz');
});

test('what the compose file is made from is there, and is let in', () => {
  const folder = join(root, 'deploy/containers');
  const compose = readFileSync(join(folder, 'compose.yml'), 'utf8');
  const [, context = '', file = ''] = /build: \{ context: (\S+), dockerfile: (\S+) \}/.exec(compose) ?? [];
  const from = join(folder, context);
  const [, copied = ''] = /^COPY (\S+)/m.exec(readFileSync(join(from, file), 'utf8')) ?? [];
  const isLetIn = readFileSync(join(from, '.dockerignore'), 'utf8').split('\n').includes(`!${copied}`);
  expect([copied, isLetIn]).toEqual(['packs/parley-hub-*.tgz', true]);
});
