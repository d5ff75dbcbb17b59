import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { allowForBrowsers, openBrowser } from '../dashboard/desk.ts';
import { freePort } from '../harness/free-port.ts';
import { send } from '../harness/send.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';

allowForBrowsers();

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-client-'));
const installed = join(folder, 'node_modules/parley-client/dist/index.js');
let hub: HubProcess;
let token: string;
let origin: string;
let pages: Server;

beforeAll(async () => {
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd, stdio: 'pipe' }).toString();
  npm(join(root, 'clients/typescript'), 'pack', '--pack-destination', folder);
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  npm(folder, 'install', './parley-client-0.1.0.tgz');
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  hub = await startHub({ settings: { 'http.allowed_origins': JSON.stringify([origin]) } });
  ({ token } = await issueToken({ agent: 'alice' }, { data: hub.data }));
  pages = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? readFileSync(installed) : '<title>elsewhere</title>');
  }).listen(port, '127.0.0.1');
});
afterAll(async () => {
  pages.close();
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the package is JavaScript under 15 kB gzipped, without zod and without dependencies', () => {
  const code = readFileSync(installed);
  expect(gzipSync(code).length).toBeLessThan(15_000);
  expect(code.toString()).not.toMatch(/zod|from ?["']/i);
  const manifest = JSON.parse(
    readFileSync(join(folder, 'node_modules/parley-client/package.json'), 'utf8'),
  ) as Record<string, unknown>;
  expect([manifest['dependencies'], manifest['name']]).toEqual([undefined, 'parley-client']);
});

test('in an empty folder its types compile strictly and it talks to the hub', () => {
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { createClient, isClientError, openAgent, type Ask, type ErrorCode, type InputOf, type Message, type OutputOf, type Thread } from 'parley-client';
const client = createClient({ url: '${hub.url}', token: '${token}' });
const { thread_id } = await client.create_thread({ title: 'from an empty folder' });
const input: InputOf<'post_message'> = { thread_id, schema_version: 1, body: 'hello' };
const posted: OutputOf<'post_message'> = await client.post_message(input);
const thread: Thread | undefined = (await client.list_threads()).threads[0];
const heard: Message[] = [];
for await (const message of client.follow(thread_id)) { heard.push(message); break; }
const code: ErrorCode = 'NOT_FOUND';
const refused = await client.get_thread({ thread_id: 'thr_none' }).catch((error: unknown) => isClientError(error, code) && error.status);
const stop = AbortSignal.abort();
const aborted = await client.wait_for_messages({ thread_id, since_seq: 9 }, { signal: stop }).catch((error: unknown) => (error as Error).name);
const agent = await openAgent({ url: '${hub.url}', token: '${token}', name: 'Alice' });
const ask: Ask = (await agent.client.raise_ask({ prompt: 'Which?', options: [{ id: 'a' }] })).ask;
await agent.close();
// @ts-expect-error: what is not described is not taken
if (posted.seq < 0) await client.post_message({ thread_id, schema_version: 1, body: 'x', boddy: 1 });
// @ts-expect-error: a number is no text
if (posted.seq < 0) await client.create_thread({ title: 3 });
console.log(JSON.stringify([posted.seq, thread?.title, heard[0]?.body, refused, aborted, ask.status, ask.options?.[0]?.id]));
`,
  );
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), 'agent.ts', '--outDir', 'out', '--strict'];
  const more = ['--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];
  const types = ['--lib', 'es2022,dom,dom.asynciterable', '--types', ''];
  execFileSync(process.execPath, [...tsc, ...more, ...types], { cwd: folder, stdio: 'inherit' });
  const said = execFileSync(process.execPath, ['out/agent.js'], { cwd: folder }).toString();
  expect(JSON.parse(said)).toEqual([1, 'from an empty folder', 'hello', 404, 'AbortError', 'open', 'a']);
});

test('CORS: a preflight of a configured origin is answered, of another refused; no cookies, ever', async () => {
  const preflight = (from: string) =>
    send(`${hub.url}/v1/whoami`, {
      method: 'OPTIONS',
      headers: { origin: from, 'access-control-request-method': 'POST' },
    });
  const { status, headers } = await preflight(origin);
  expect([status, headers['access-control-allow-origin']]).toEqual([204, origin]);
  expect(headers['access-control-allow-headers']).toContain('authorization');
  expect(headers['access-control-allow-credentials']).toBeUndefined();
  const foreign = await preflight('http://127.0.0.1:1');
  expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined]);
});

describeWith(['chromium'], 'in Chromium', () => {
  test('a page of a configured origin calls and follows with a token, and without one gets nothing', async () => {
    const page = await (await openBrowser()).newPage();
    await page.goto(`${origin}/`);
    // As text: what a test runner makes of an import is of no use in a page.
    const run = (credential: string) =>
      page.evaluate(`(async () => {
        const { createClient } = await import('/client.js');
        const client = createClient({ url: '${hub.url}', token: '${credential}' });
        try {
          const { thread_id } = await client.create_thread({ title: 'from a page' });
          await client.post_message({ thread_id, schema_version: 1, body: 'seen' });
          for await (const { body } of client.follow(thread_id)) return body;
        } catch (error) {
          return error.code;
        }
      })()`);
    expect(await run(token)).toBe('seen');
    expect(await run('nothing')).toBe('UNAUTHORIZED');
    await page.goto(`http://localhost:${new URL(origin).port}/`);
    const blocked = await page.evaluate(
      (url) =>
        fetch(`${url}/v1/openapi.json`).then(
          () => 'read',
          () => 'blocked',
        ),
      hub.url,
    );
    expect(blocked).toBe('blocked');
    await page.close();
  });
});
