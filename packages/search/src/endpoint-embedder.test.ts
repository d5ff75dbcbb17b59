import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { createEndpointEmbedder } from './endpoint-embedder.ts';
import { openSearch } from './open-search.ts';
import { page } from './search-contract.ts';

interface Asked {
  model: string;
  input: string[];
}

/** An endpoint that knows two things: what is about the sea, and what is not. */
let server: Server;
let asked: Asked[] = [];
let keys: unknown[] = [];
let answer = (texts: string[]): unknown => ({ data: texts.map(vectorOf).toReversed() });
const vectorOf = (text: string, index: number) => ({
  index,
  embedding: /sea|harbour|ship/i.test(text) ? [3, 0, 0.1] : [0, 2, 0.1],
});

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const call = JSON.parse(body) as Asked;
      asked.push(call);
      keys.push(request.headers.authorization);
      const made = answer(call.input);
      response.writeHead(made === undefined ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(made ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [asked, keys] = [[], []];
  answer = (texts) => ({ data: texts.map(vectorOf).toReversed() });
});

const faults: string[] = [];
const embedder = (more: { dimensions?: number; englishOnly?: boolean; model?: string } = {}) =>
  createEndpointEmbedder({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`,
    model: 'm',
    key: 'secret-key',
    dimensions: 3,
    timeoutMs: 20_000,
    batch: 2,
    englishOnly: false,
    onFault: (error) => faults.push(String(error)),
    ...more,
  });

test('[KNOW-17] texts are sent a few at a time, and come back in their order as vectors of length 1', async () => {
  const made = await embedder().embed(['the sea', 'a hill', 'a ship']);
  expect(made?.map((vector) => Math.round(vector?.[0] ?? 9))).toEqual([1, 0, 1]);
  expect(made?.map((vector) => Math.hypot(...(vector ?? [])).toFixed(3))).toEqual([
    '1.000',
    '1.000',
    '1.000',
  ]);
  expect(asked.map(({ input }) => input.length)).toEqual([2, 1]);
  expect(keys).toEqual(['Bearer secret-key', 'Bearer secret-key']);
});

test('[KNOW-17] vectors of another size, no vectors and errors are none, and are told of once without the key', async () => {
  const wrong = embedder({ dimensions: 4 });
  faults.length = 0;
  expect([await wrong.ask('the sea'), await wrong.ask('the sea')]).toEqual([undefined, undefined]);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain('vectors of 3 numbers, but search.embeddings.dimensions is 4');
  for (const bad of [{ data: [] }, { data: [{ index: 0, embedding: ['x', 1, 2] }] }, {}, undefined]) {
    answer = () => bad;
    expect(await embedder().embed(['the sea'])).toBeUndefined();
  }
  expect(faults.join(' ')).not.toContain('secret-key');
});

test('[KNOW-17] a model for English alone is asked nothing else', async () => {
  const english = embedder({ englishOnly: true });
  expect(await english.embed(['Đường phố Hà Nội rất đông'])).toEqual([null]);
  expect(await english.ask('Đường phố')).toBeNull();
  expect(asked).toEqual([]);
});

test('[KNOW-17] while it fails the words answer and say so; another model has all vectors made anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
  const open = (model: string) => {
    const common = {
      folder,
      kind: 'documents',
      onFault: (error: unknown) => faults.push(String(error)),
    } as const;
    return openSearch({ ...common, embedder: embedder({ model }) });
  };
  const query = { workspace_id: 'w1', text: 'about the harbour', tags: [], limit: 5 };
  let search = open('m');
  answer = () => undefined;
  await search.apply([page('d', 'Ships come and go.'), page('e', 'A hill.')], [], {
    workspace_id: 'w1',
    pos: 1,
  });
  await search.settled();
  const failing = await search.find({ ...query, text: 'hill' }, 20_000);
  expect(failing.lacks).toEqual(['meaning']);
  expect(failing.passages[0]?.document_id).toBe('e');
  answer = (texts) => ({ data: texts.map(vectorOf) });
  await search.settled();
  expect((await search.find(query, 20_000)).passages.map(({ document_id }) => document_id)).toEqual(['d']);
  await search.close();
  asked = [];
  search = open('another');
  await search.settled();
  expect(asked.flatMap(({ model, input }) => [model, ...input])).toEqual([
    'another',
    'Ships come and go.',
    'A hill.',
  ]);
  expect((await search.find(query, 20_000)).lacks).toEqual([]);
  await search.close();
  rmSync(folder, { recursive: true });
});
