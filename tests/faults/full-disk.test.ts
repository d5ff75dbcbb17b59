import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import { runCli, runJson } from '../harness/run-cli.ts';
import { cleanEnv, PARLEY } from '../harness/start-hub.ts';
import { issueToken, registerSigner } from '../harness/tokens.ts';
import { describeAsRoot, mountSmallDisk } from './as-root.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, ok, post } from './hub-client.ts';

const ATM = fileURLToPath(new URL('../../packages/codex-proxy/bin/atm-agent-mcp.mjs', import.meta.url));
const WAIT = { timeout: 20_000 };
const MEGABYTE = 1_048_576;
const FULL = { code: 1, stderr: 'parley: the disk is full; nothing was written\n' };

/** Fills a disk up to its last bytes; with less than all that is asked for it takes a part and says nothing. */
function leaveFree(disk: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - bytes));
  const { bavail: left } = statfsSync(disk);
  expect(left * bsize).toBe(bytes);
}

describeAsRoot('a disk with one page left', () => {
  test('commands that change the keys say so and change nothing; tokens stay good, and the hub starts again', async () => {
    const disk = mountSmallDisk(8 * MEGABYTE);
    const data = join(disk, 'data');
    const hub = await startHub(data);
    // More than one page of keys.
    await registerSigner('k'.repeat(5_000), { data });
    const { token, jti } = await issueToken({ agent: 'alice', workspace: 'w' }, { data });
    const { keys } = await runJson<{ keys: { kid: string }[] }>(['key', 'list'], { data });
    const file = join(data, 'auth.json');
    const before = readFileSync(file, 'utf8');
    const names = readdirSync(data).toSorted();
    leaveFree(disk, 4_096);
    for (const change of [
      ['token', 'revoke', jti],
      ['key', 'add'],
      ['key', 'retire', keys[0]?.kid ?? ''],
    ]) {
      expect(await runCli(change, { data })).toMatchObject(FULL);
      expect(await runJson<object>(['key', 'list'], { data })).toMatchObject({ keys });
    }
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(readdirSync(data).toSorted()).toEqual(names);
    const alice = clientOf(hub.url, 'alice', token);
    expect((await alice.call('list_threads', {})).status).toBe(200);

    writeFileSync(join(disk, 'filler'), '');
    expect(await runCli(['token', 'revoke', jti], { data })).toMatchObject({ code: 0 });
    expect(await hub.end('SIGTERM')).toMatchObject({ code: 0 });
    const revived = await startHub(data);
    expect((await clientOf(revived.url, 'alice', token).call('list_threads', {})).status).toBe(401);
  });

  test('what is to be written to it is whole or not there, and the command says so', async () => {
    const data = temporaryFolder();
    const hub = await startHub(data);
    const PARLEY_TOKEN = await tokenFor(data, 'alice', { role: 'orchestrator' });
    const alice = clientOf(hub.url, 'alice', PARLEY_TOKEN);
    const thread = await createThread(alice);
    ok(await post(alice, thread, 'x'.repeat(30_000)));
    const content = { mime_type: 'text/plain', body: 'y'.repeat(10_000) };
    for (const title of ['first', 'second'])
      ok(
        await alice.call('create_document', {
          document_id: randomUUID(),
          parent_id: 'root',
          content,
          metadata: { title },
          is_human_readable: true,
        }),
      );
    const kept = ok(
      await alice.call<{ artifact: { artifact_id: string } }>('put_artifact', {
        name: 'note.txt',
        mime_type: 'text/plain',
        content: 'z'.repeat(50_000),
      }),
    );

    const disk = mountSmallDisk(MEGABYTE);
    const env = { PARLEY_TOKEN, PARLEY_URL: hub.url };
    leaveFree(disk, 4_096);
    for (const write of [
      ['export', '--out', join(disk, 'record.ndjson')],
      ['backup', join(disk, 'backup')],
      ['know', 'export', join(disk, 'pages')],
      ['artifact', 'get', kept.artifact.artifact_id, '--out', join(disk, 'note.txt')],
    ]) {
      expect([write, await runCli(write, { data, env })]).toMatchObject([write, { ...FULL, stdout: '' }]);
      expect([write, readdirSync(disk)]).toEqual([write, ['filler']]);
    }
    // Less than it was given is taken of the one piece, and the disk says nothing.
    const wrapper = into(join(disk, 'printed'));
    expect(await runCli(['read', thread, '--json'], { data, env, wrapper })).toMatchObject({
      code: 1,
      stderr: 'parley: the output is not whole: the disk is full\n',
    });
  });

  test('a hub whose own words have no room starts and serves', async () => {
    const data = temporaryFolder();
    const disk = mountSmallDisk(MEGABYTE);
    leaveFree(disk, 0);
    const [shell = '', ...words] = into(join(disk, 'words'));
    const hub = spawn(
      shell,
      [...words, process.execPath, PARLEY, 'serve', '--port', '0', '--json', '--data', data],
      {
        env: cleanEnv(data),
        stdio: 'ignore',
      },
    );
    onTestFinished(() => void hub.kill('SIGKILL'));
    const file = join(data, 'hub.json');
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8'), WAIT).toContain('url');
    const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string };
    const alice = clientOf(url, 'alice', await tokenFor(data, 'alice', { role: 'orchestrator' }));
    const thread = await createThread(alice);
    // It says that it is ready soon after its door is open.
    await sleep(1_000);
    ok(await post(alice, thread, 'still there'));
  });

  test('a proxy whose log has no room answers its client', async () => {
    const home = temporaryFolder();
    const disk = mountSmallDisk(MEGABYTE);
    leaveFree(disk, 0);
    const proxy = spawn(
      'sh',
      ['-c', `exec "$0" "$@" 2> ${join(disk, 'log')}`, process.execPath, ATM, 'serve'],
      {
        env: { ...cleanEnv(join(home, 'data')), ATM_AGENT_MCP_LOG_LEVEL: 'debug' },
        cwd: home,
      },
    );
    onTestFinished(() => void proxy.kill('SIGKILL'));
    const answers = createInterface(proxy.stdout)[Symbol.asyncIterator]();
    for (const id of [1, 2]) {
      proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
      expect(JSON.parse(String((await answers.next()).value))).toMatchObject({ id, result: {} });
    }
  });
});

/** Sends what a command prints into a file, as a person does. */
function into(file: string): string[] {
  return ['sh', '-c', `exec "$0" "$@" > ${file}`];
}
