import { execFile } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { CONTRACTS } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { checkStored, parseLog } from '../harness/oracle.ts';
import { otherRoutes, UNAUTHORIZED } from '../harness/other-routes.ts';
import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { createSigner, issueByCommand, registerByCommand } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';

const run = promisify(execFile);

/** The addresses a process listens on, from the kernel's own tables. */
function listening(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map(
      (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1],
    ),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9]))
      .map((fields) => fields[1]?.split(':')[0] ?? ''),
  );
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

test('[C-LOCAL-01] the hub listens on loopback alone, and refuses another address without TLS', async () => {
  const hub = await startHub();
  expect(listening(hub.pid)).toEqual(['0100007F']);
  expect(await hub.stop()).toBe(0);
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.0.0.1.evil.example']) {
    const data = freshFolder();
    const { code, stderr, stdout } = await runCli(['serve', '--port', '0', '--host', host], { data });
    expect([host, code, stdout]).toEqual([host, 2, '']);
    expect(stderr).toContain('is not loopback: set tls.cert and tls.key');
  }
});

test.skipIf(process.getuid?.() !== 0)(
  '[C-LOCAL-02] another user of the machine gets nothing without a token',
  async () => {
    const data = freshFolder();
    // All that stands between the other user and the files must be the hub's own doing.
    chmodSync(dirname(data), 0o755);
    const open = ['/bin/sh', '-c', 'umask 000 && exec "$0" "$@"'];
    const hub = await startHub({ data, wrapper: open });
    const { token } = await issueByCommand({ agent: 'alice' }, { data, wrapper: open });
    const { thread_id } = succeeded(
      await v1Driver.call(hub.url, token, 'create_thread', { title: 'private' }),
    );
    await checkStored(data);

    const other = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    const asOther = async (command: string, ...args: string[]): Promise<string> => {
      const result = await run('setpriv', [...other, command, ...args], { cwd: '/' }).catch(
        (error: unknown) => error,
      );
      return String((result as { stdout?: string }).stdout) + String((result as { stderr?: string }).stderr);
    };
    for (const path of [data, ...readdirSync(data).map((name) => join(data, name))]) {
      expect(await asOther('ls', path)).toContain('Permission denied');
      expect(await asOther('cat', path)).toContain('Permission denied');
      expect(await asOther('sh', '-c', `echo x >> '${path}'`)).toMatch(/Permission denied|Is a directory/);
    }
    expect(await asOther('ls', `/proc/${hub.pid}/fd/`)).toContain('Permission denied');
    expect(await asOther('cat', `/proc/${hub.pid}/environ`)).toContain('Permission denied');

    const operations = Object.values(CONTRACTS).flatMap((contract) => [
      { method: 'POST', path: `/v1/${contract.name}` },
      ...('http' in contract
        ? [{ method: 'GET', path: contract.http.path.replaceAll(/\{\w+\}/g, thread_id) }]
        : []),
    ]);
    const calls = [...operations, ...otherRoutes(thread_id)];
    const script = `
    const answers = [];
    for (const { method, path } of ${JSON.stringify(calls)}) {
      const body = method === 'POST' ? '{}' : undefined;
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(${JSON.stringify(hub.url)} + path, { method, headers, body });
      answers.push([path, reply.status, ${UNAUTHORIZED}.test(await reply.text())]);
    }
    const health = await fetch(${JSON.stringify(hub.url)} + '/health');
    console.log(JSON.stringify({ answers, health: await health.text() }));`;
    const reported = JSON.parse(
      await asOther(process.execPath, '--input-type=module', '-e', script).then(
        (text) => text.split('\n')[0] ?? '',
      ),
    ) as {
      answers: unknown[];
      health: string;
    };
    expect(reported.answers).toEqual(calls.map(({ path }) => [path, 401, true]));
    expect(reported.health).toBe('{"ok":true}');
    expect(await hub.stop()).toBe(0);
  },
);

test('[C-LOCAL-03] a link planted where the hub will write is refused, and its target is left alone', async () => {
  const names = [
    'parley.db',
    'parley.db-wal',
    'parley.db-shm',
    'parley.db-journal',
    'hub.lock',
    'hub.json',
    'auth.json',
    'auth.lock',
  ];
  const plant = async (name: string, kind: 'symlink' | 'dangling' | 'hard'): Promise<string[]> => {
    const data = freshFolder();
    mkdirSync(data, { mode: 0o700 });
    const victim = join(dirname(data), 'victim');
    if (kind !== 'dangling') writeFileSync(victim, 'precious');
    if (kind === 'hard') linkSync(victim, join(data, name));
    else symlinkSync(victim, join(data, name));
    const { code, stderr } = await runCli(['serve', '--port', '0'], { data });
    expect([name, kind, code, stderr.includes('is not a plain file of its own')]).toEqual([
      name,
      kind,
      1,
      true,
    ]);
    if (kind === 'dangling') expect(readdirSync(dirname(data))).toEqual(['data']);
    else expect(readFileSync(victim, 'utf8')).toBe('precious');
    return readdirSync(data);
  };
  for (const name of names) {
    const kinds = ['symlink', 'dangling', 'hard'] as const;
    for (const left of await Promise.all(kinds.map((kind) => plant(name, kind))))
      expect(left).toEqual([name]);
  }
  // These are written when the record is already open.
  const later = ['push.json', 'reserve', 'artifact-keys.json'];
  await Promise.all(later.map((name) => plant(name, 'dangling')));
});

test('[C-LOCAL-03] nothing is written to the folder for temporary files', async () => {
  const temporary = dirname(freshFolder());
  const data = freshFolder();
  const hub = await startHub({ data, env: { TMPDIR: temporary } });
  const signer = await registerByCommand('test-key', { data, env: { TMPDIR: temporary } });
  const token = signer.token({ agent: 'alice' });
  const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
  succeeded(await v1Driver.call(hub.url, token, 'post_message', { thread_id, schema_version: 1, body: 'x' }));
  expect(readdirSync(temporary)).toEqual([]);
  expect(await hub.stop()).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(dirname(data))).toEqual(['data']);
});

test('[C-LOCAL-04] [R12] no secret reaches a log, an error, the process list or a crash report', async () => {
  const data = freshFolder();
  const reports = dirname(freshFolder());
  const apiKey = 'canary-api-key-6f1d2c';
  const preload = fileURLToPath(new URL('../harness/crash-on-signal.mjs', import.meta.url));
  const options = `--import ${preload} --max-old-space-size=120 --report-on-fatalerror --report-uncaught-exception --report-on-signal --report-directory=${reports}`;
  const hub = await startHub({
    data,
    flags: ['--log-level', 'trace'],
    settings: {
      'summary.endpoint': 'http://127.0.0.1:9/v1',
      'summary.model': 'none',
      'summary.api_key_env': 'CANARY_KEY',
    },
    env: { CANARY_KEY: apiKey, NODE_OPTIONS: options },
  });
  const signer = await registerByCommand('test-key', { data });
  const good = signer.token({ agent: 'alice' });
  const bad = createSigner('nobody').token({ agent: 'alice' });
  const secrets = [apiKey, ...[good, bad].flatMap((token) => [token, token.split('.')[2] ?? ''])];
  const { thread_id } = succeeded(await v1Driver.call(hub.url, good, 'create_thread', { title: 'x' }));
  succeeded(await v1Driver.call(hub.url, good, 'summarize_thread', { thread_id }));

  const reported: string[] = [];
  const tryAll = async (path: string, method: string, headers: Record<string, string>, body?: string) => {
    const { text } = await send(`${hub.url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    reported.push(text);
  };
  for (const token of [good, bad]) {
    const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    await tryAll('/v1/list_threads', 'POST', json, '{}');
    await tryAll('/v1/list_threads', 'POST', { ...json, authorization: token }, '{}');
    await tryAll('/v1/list_threads', 'POST', { ...json, authorization: `Basic ${token}` }, '{}');
    await tryAll(`/v1/threads?token=${token}`, 'GET', {});
    await tryAll(`/v1/${token}`, 'GET', json);
    await tryAll(`/${token}`, 'POST', json, '{}');
    await tryAll(`/v1/threads/${token}`, 'GET', json);
    await tryAll('/v1/get_thread', 'POST', json, JSON.stringify({ thread_id: token }));
    await tryAll('/v1/post_message', 'POST', json, `{"${token}":1,"${token}":2}`);
    await tryAll(
      '/v1/post_message',
      'POST',
      json,
      JSON.stringify({ thread_id, schema_version: token, body: token }),
    );
    await tryAll('/v1/post_message', 'POST', json, `{"thread_id":"${token}`);
    await tryAll('/v1/list_threads', 'POST', { ...json, host: token }, '{}');
    await tryAll('/v1/list_threads', 'POST', { ...json, origin: token }, '{}');
  }
  const found = (text: string): string[] => secrets.filter((secret) => text.includes(secret));
  expect(found(reported.join('\n'))).toEqual([]);
  expect(found(readFileSync(`/proc/${hub.pid}/cmdline`, 'utf8'))).toEqual([]);
  expect(found(readFileSync(`/proc/${hub.pid}/comm`, 'utf8'))).toEqual([]);
  await vi.waitFor(() => expect(parseLog(hub.stderr()).length).toBeGreaterThan(reported.length), 20_000);
  expect(found(hub.stderr())).toEqual([]);

  process.kill(hub.pid, 'SIGPROF');
  await vi.waitFor(() => expect(hub.ended()).toBe(true), 30_000);
  expect(hub.stderr()).toContain('out of memory');
  expect(found(hub.stderr())).toEqual([]);
  expect(readdirSync(reports)).toEqual([]);
  expect(readdirSync(dirname(data))).toEqual(['data']);
});

test('[C-LOCAL-10] whatever callers send, each line of the log is one escaped JSON object', async () => {
  const data = freshFolder();
  const hub = await startHub({ data, flags: ['--log-level', 'trace'] });
  const signer = await registerByCommand('test-key', { data });
  const nasty = 'a\n{"level":"error","msg":"forged"}\r\n\u001b[2J\u009b31m\u007f\u2028\u202Eevil\u2066 " \\';
  const json = {
    'content-type': 'application/json',
    authorization: `Bearer ${signer.token({ agent: 'alice' })}`,
  };
  const post = (operation: string, body: string) =>
    send(`${hub.url}/v1/${operation}`, { method: 'POST', headers: json, body });
  const { text } = await post('create_thread', JSON.stringify({ title: nasty }));
  const { thread_id } = JSON.parse(text) as { thread_id: string };
  await post(
    'post_message',
    JSON.stringify({ thread_id, schema_version: 1, body: nasty, metadata: { [nasty]: nasty } }),
  );
  await post('post_message', JSON.stringify({ thread_id: nasty, schema_version: 1, body: 'x' }));
  await post('post_message', `{${JSON.stringify(nasty)}:1,${JSON.stringify(nasty)}:2}`);
  await post('create_thread', JSON.stringify({ title: 'x', participants: [nasty] }));
  await post('get_thread', JSON.stringify({ agent_id: nasty }));
  await send(`${hub.url}/v1/${encodeURIComponent(nasty)}`);
  await send(`${hub.url}/v1/threads/${encodeURIComponent(nasty)}`, { headers: json });
  const forged = signer.craft({}, { kid: nasty });
  await send(`${hub.url}/v1/threads`, { headers: { authorization: `Bearer ${forged}` } });
  expect(await hub.stop()).toBe(0);

  const lines = parseLog(hub.stderr());
  expect(lines.length).toBeGreaterThanOrEqual(9);
  expect(lines.filter(({ msg }) => msg === 'forged')).toEqual([]);
  expect(hub.stderr().replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Zl}|\p{Zp}|\p{Bidi_Control}/u);
});
