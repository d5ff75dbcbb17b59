import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { issueToken, parley, parleyJson, type RunOptions, startHub, type TestHub } from './parley.ts';

let hub: TestHub;
const work = mkdtempSync(join(tmpdir(), 'parley-know-'));
beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const run = (args: string[], options?: RunOptions) => parley(['know', ...args, '--data', hub.data], options);
const json = <T>(args: string[], options?: RunOptions) =>
  parleyJson<T>(['know', ...args, '--data', hub.data], options);

interface Listed {
  documents: { document_id: string; metadata: { title: string; tags?: string[] }; revision: number }[];
}
const titles = async (...args: string[]) =>
  (await json<Listed>(['ls', ...args])).documents.map(({ metadata }) => metadata.title);

test('a resolved thread becomes a document', async () => {
  const thread = await parleyJson<{ thread_id: string }>(['thread', 'new', 'Settled', '--data', hub.data]);
  const { thread_id } = thread;
  const early = await run(['promote', thread_id]);
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('resolve it first') });
  await parley(['thread', 'status', thread_id, 'resolved', '-m', 'agreed', '--data', hub.data]);
  const made = await json<{ id: string }>(['promote', thread_id, '--title', 'What we settled']);
  expect((await run(['cat', 'What we settled'])).stdout).toContain('agreed');
  await json(['rm', made.id]);
});

test('[KNOW-13] a document is written, read, moved, deleted and restored by its path', async () => {
  const guide = await json<{ id: string }>(['put', 'Guide'], { input: '# Guide\n' });
  await json(['put', 'Guide/Setup', '--tags', 'a,b'], { input: 'first\n' });
  await json(['put', 'Guide/Use'], { input: 'use\n' });
  expect((await run(['cat', 'Guide/Setup'])).stdout).toBe('first\n');
  await json(['put', 'Guide/Setup', '--revision', '1'], { input: 'second\n' });
  expect((await run(['put', 'Guide/Setup', '--revision', '1'], { input: 'third\n' })).code).toBe(1);
  expect((await run(['cat', 'Guide/Setup'])).stdout).toBe('second\n');
  expect((await run(['cat', 'Guide/Setup', '--revision', '1'])).stdout).toBe('first\n');
  await json(['mv', 'Guide/Use', 'Guide', '--before', 'Guide/Setup']);
  expect(await titles('Guide')).toEqual(['Use', 'Setup']);
  await json(['rm', 'Guide/Use', '--reason', 'old']);
  expect(await titles(guide.id)).toEqual(['Setup']);
  const { documents } = await json<Listed>(['ls', 'Guide', '--deleted']);
  await json(['restore', documents[0]?.document_id ?? '']);
  expect(await titles('Guide')).toEqual(['Use', 'Setup']);
  const { stdout } = await run(['history', 'Guide/Use']);
  expect(stdout.split('\n').map((line) => line.split(/\s{2,}/)[3])).toEqual([
    'restored',
    'deleted',
    'moved',
    'created',
    undefined,
  ]);
  expect((await run(['cat', 'Guide/Nothing'])).code).toBe(3);
  expect((await run(['put', 'No/Where'], { input: '' })).code).toBe(3);
  expect((await run(['put', 'Guide/Other', '--role', 'observer'], { input: '' })).code).toBe(6);
});

test('[KNOW-13] a folder of Markdown comes in, only what changed comes in again, and goes out as it came', async () => {
  const folder = join(work, 'in');
  mkdirSync(join(folder, 'part', 'deeper'), { recursive: true });
  writeFileSync(join(folder, 'readme.md'), '# Read me\n\nsee [it](part/one.md)\n');
  writeFileSync(join(folder, 'part.md'), 'the part itself\n');
  writeFileSync(join(folder, 'part', 'one.md'), '# One\r\ntext với dấu\n');
  writeFileSync(join(folder, 'part', 'deeper', 'data.json'), '{"a":1}');
  writeFileSync(join(folder, 'picture.png'), 'no text');
  writeFileSync(join(folder, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]));
  symlinkSync('/etc/hostname', join(folder, 'link.md'));
  const first = await run(['import', folder, '--json']);
  expect(JSON.parse(first.stdout)).toMatchObject({ created: 5, updated: 0, unchanged: 0 });
  expect(
    (JSON.parse(first.stdout) as { skipped: { path: string }[] }).skipped.map(({ path }) => path).toSorted(),
  ).toEqual(['binary.md', 'link.md', 'picture.png']);
  expect(first.code).toBe(1);
  for (const name of ['binary.md', 'link.md', 'picture.png']) rmSync(join(folder, name));
  expect((await run(['cat', 'part/One'])).stdout).toBe('# One\r\ntext với dấu\n');
  expect(await titles('part/deeper')).toEqual(['data']);
  writeFileSync(join(folder, 'part.md'), 'changed\n');
  expect(await json(['import', folder])).toEqual({ created: 0, updated: 1, unchanged: 4, skipped: [] });

  const out = join(work, 'out');
  const exported = await json<{ documents: number }>(['export', out]);
  expect((await run(['export', out])).code).toBe(1);
  expect(readFileSync(join(out, 'part', 'One.md'), 'utf8')).toBe('# One\r\ntext với dấu\n');
  expect(readFileSync(join(out, 'part.md'), 'utf8')).toBe('changed\n');

  const there = ['--workspace', 'elsewhere'];
  const again = await json<{ created: number }>(['import', out, ...there]);
  expect(again).toMatchObject({ created: exported.documents, skipped: [] });
  const copy = join(work, 'copy');
  await json(['export', copy, ...there]);
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).toSorted();
  expect(readdirSync(copy, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(files);
  for (const name of files.filter((path) => /\.(md|json)$/.test(path)))
    expect(readFileSync(join(copy, name), 'utf8')).toBe(readFileSync(join(out, name), 'utf8'));
});

/** Calls the hub as an editor. */
async function editor() {
  const token = await issueToken(hub.data, 'ed', 'orchestrator');
  return async (operation: string, input: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${hub.url}/v1/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return (await response.json()) as Record<string, unknown>;
  };
}

/** A way to the hub that notes which operations are called. */
async function watched(): Promise<{ url: string; seen: string[]; close: () => Promise<void> }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    const { method = 'GET', headers } = request;
    const target = new URL(request.url ?? '', hub.url);
    const passed = httpRequest(target, { method, headers: { ...headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}`, seen, close };
}

test('[KNOW-13] very many files come in with a few calls and in their order, nothing is fetched first, and a title is found at once', async () => {
  const folder = join(work, 'many');
  mkdirSync(join(folder, 'below'), { recursive: true });
  const COUNT = 250;
  const nameOf = (n: number): string => `page-${String(n).padStart(4, '0')}`;
  for (let n = 0; n < COUNT; n++) writeFileSync(join(folder, `${nameOf(n)}.md`), `text ${n}\n`);
  writeFileSync(join(folder, 'below', 'child.md'), 'a child\n');
  writeFileSync(join(folder, 'bad.md'), 'a\0b');
  await json(['put', 'Many'], { input: '' });
  const way = await watched();
  try {
    const token = await issueToken(hub.data, 'ed', 'orchestrator');
    const through = { env: { PARLEY_TOKEN: token } };
    const at = ['--url', way.url];
    const first = await parley(['know', 'import', folder, '--to', 'Many', '--json', ...at], through);
    expect(first.code).toBe(1);
    expect(JSON.parse(first.stdout)).toMatchObject({
      created: COUNT + 2,
      updated: 0,
      unchanged: 0,
      skipped: [{ path: 'bad.md', reason: expect.stringContaining('NUL') }],
    });
    rmSync(join(folder, 'bad.md'));
    way.seen.length = 0;
    writeFileSync(join(folder, `${nameOf(7)}.md`), 'another text\n');
    const again = await parley(['know', 'import', folder, '--to', 'Many', '--json', ...at], through);
    expect(JSON.parse(again.stdout)).toEqual({ created: 0, updated: 1, unchanged: COUNT + 1, skipped: [] });
    expect(way.seen.filter((path) => path.includes('import_documents'))).toHaveLength(2);
    expect(way.seen.filter((path) => path.includes('export_documents'))).toEqual([]);
    expect(way.seen.length).toBeLessThan(8);

    way.seen.length = 0;
    const cat = await parley(['know', 'cat', `Many/${nameOf(COUNT - 1)}`, ...at], through);
    expect(cat.stdout).toBe(`text ${COUNT - 1}\n`);
    expect(way.seen.filter((path) => path.includes('list_documents'))).toHaveLength(2);
    expect((await run(['cat', 'Many/below/child'])).stdout).toBe('a child\n');
    expect(await titles('Many')).toEqual([...Array.from({ length: COUNT }, (_, n) => nameOf(n)), 'below']);
  } finally {
    await way.close();
  }
}, 240_000);

test('`--limit` gives as many as it says, or says what it takes', async () => {
  const call = await editor();
  const { id } = await json<{ id: string }>(['put', 'Often'], { input: '0' });
  for (let n = 0; n < 230; n += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call('update_document', {
          document_id: id,
          patch: { content: { body: `text ${n + i}` } },
          update_mask: ['content.body'],
        }),
      ),
    );
  const history = async (limit: string) =>
    (await json<{ revisions: { revision: number }[] }>(['history', 'Often', '--limit', limit])).revisions;
  const all = await history('1000');
  expect(all.map(({ revision }) => revision)).toEqual(Array.from({ length: 231 }, (_, i) => 231 - i));
  expect(await history('220')).toHaveLength(220);
  expect(await history('3')).toHaveLength(3);
  for (const [args, words] of [
    [['history', 'Often', '--limit', '0'], 'from 1 to'],
    [['search', 'x', '--limit', '21'], 'from 1 to 20'],
  ] as const) {
    const { code, stderr } = await run([...args]);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(words)]);
  }
});

test('a list that leads out of its folder is refused', async () => {
  const folder = join(work, 'evil');
  mkdirSync(folder);
  const page = {
    path: '../../etc/passwd',
    document_id: '00000000-0000-4000-8000-000000000001',
    mime_type: 'text/plain',
    metadata: { title: 'x' },
    is_human_readable: true,
  };
  writeFileSync(join(folder, '.parley.json'), JSON.stringify({ version: 1, pages: [page] }));
  const ran = await run(['import', folder]);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('leads out of the folder')]);
  symlinkSync('/etc', join(folder, 'sub'));
  const linked = { version: 1, pages: [{ ...page, path: 'sub/passwd' }] };
  writeFileSync(join(folder, '.parley.json'), JSON.stringify(linked));
  const { stdout } = await run(['import', folder, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    created: 0,
    skipped: [{ path: 'sub/passwd', reason: expect.stringContaining('link') }],
  });
});

interface Answer {
  response: string;
  context: { n: number; document_id: string; snippet: string }[];
  missing: string[];
}

test('[KNOW-17] documents are asked by words and meaning, by tag, and what is hostile in them is harmless', async () => {
  const { id } = await json<{ id: string }>(['put', 'Pets', '--tags', 'home'], {
    input: 'Felines sleep most of the day. They wake \u001b[31mat dusk.\n',
  });
  await json(['put', 'Ships', '--tags', 'work'], { input: 'The harbour is closed to felines.\n' });
  const found = await json<Answer>(['search', 'felines', 'at', 'dusk', '--timeout', '10s']);
  expect(found.context[0]).toMatchObject({ n: 1, document_id: id });
  expect(found.response).toContain('at dusk. [1]');
  const tagged = await json<Answer>(['search', 'felines', '--tags', 'home', '--timeout', '10s']);
  expect(tagged.context.map(({ document_id }) => document_id)).toEqual([id]);
  const one = await json<Answer>(['search', 'felines', '--limit', '1', '--timeout', '10s']);
  expect(one.context).toHaveLength(1);
  const reported = await run(['search', 'felines at dusk', '--timeout', '10s']);
  expect(reported.code).toBe(0);
  expect(reported.stdout).toContain(`[1] Pets  ${id} r1`);
  expect(reported.stdout).not.toContain('\u001b[31m');
});

test('[KNOW-17] threads and documents are asked at once, and each line says what it is', async () => {
  const { id } = await json<{ id: string }>(['put', 'Plan'], {
    input: 'It is long. The zeppelin lands on Friday.\n',
  });
  const made = await parleyJson<{ thread_id: string }>(['thread', 'new', 'Landing', '--data', hub.data]);
  const said = 'The zeppelin lands on Monday instead.';
  await parley(['post', made.thread_id, said, '--data', hub.data]);
  await vi.waitFor(
    async () => {
      const asked = ['search', 'when does the zeppelin land', '--scope', 'all', '--timeout', '10s'];
      const { stdout } = await run(asked);
      // The sentence that the answer cites is shown, not the beginning of its passage.
      expect(stdout).toMatch(new RegExp(`\\[\\d\\] Plan  ${id} r1  The zeppelin lands on Friday\\.`));
      expect(stdout).toMatch(new RegExp(`\\[\\d\\] \\S+ in Landing  ${made.thread_id} #1  ${said}`));
    },
    { timeout: 50_000, interval: 300 },
  );
  const bad = await run(['search', 'x', '--scope', 'heaven']);
  expect(bad.stderr).toContain('documents, threads, all');
});

test('[KNOW-17] a search that finds nothing says so; one that is not valid says what is', async () => {
  const none = await run(['search', 'xyzzy', '--timeout', '10s']);
  expect([none.code, none.stdout.trim()]).toEqual([0, '']);
  expect(none.stderr).toContain('Nothing found.');
  const bad = await run(['search', 'x', '--timeout', '5ms']);
  expect(bad.code).not.toBe(0);
  expect(bad.stderr).toContain('5ms is out of range; write 1s to 10s');
  expect((await run(['search'])).stderr).toContain('words');
});
