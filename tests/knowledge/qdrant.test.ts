import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { type QdrantProcess, startQdrant } from '../harness/qdrant.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';

const WITHIN = 10_000;

describeWith(['qdrant'], 'a hub whose index is in Qdrant', ({ qdrant: program }) => {
  let qdrant: QdrantProcess;
  let hub: HubProcess;
  let signer: Signer;
  const data = freshFolder();

  beforeAll(async () => {
    qdrant = await startQdrant(program);
    [hub, signer] = await Promise.all([start(), registerSigner('k', { data })]);
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.stderr()).not.toContain(qdrant.key);
    await qdrant.close();
  });

  const start = (): Promise<HubProcess> =>
    startHub({
      data,
      settings: {
        'search.qdrant.url': qdrant.url,
        'search.qdrant.api_key_env': 'KEY_OF_QDRANT',
        'search.qdrant.timeout_ms': 2_000,
      },
      env: { KEY_OF_QDRANT: qdrant.key },
    });

  const call = <N extends 'create_document' | 'query_knowledge'>(name: N, input: object, workspace = 'w') =>
    v1Driver.call(hub.url, signer.token({ agent: 'ed', role: 'orchestrator', workspace }), name, input);

  async function write(title: string, body: string, workspace?: string): Promise<string> {
    const document_id = randomUUID();
    const content = { mime_type: 'text/markdown', body };
    const document = { document_id, parent_id: 'root', content, metadata: { title } };
    const { error } = await call('create_document', document, workspace);
    expect(error).toBeUndefined();
    return document_id;
  }

  async function ask(query: string, workspace?: string): Promise<OutputOf<'query_knowledge'>> {
    const answer = await call('query_knowledge', { query, routing: { max_latency_ms: WITHIN } }, workspace);
    if (answer.result === undefined) throw new Error(answer.error?.code);
    return answer.result;
  }

  const found = async (query: string, workspace?: string): Promise<string[]> =>
    (await ask(query, workspace)).context.map(({ document_id }) => document_id);

  /** What is asked while Qdrant does not answer. */
  async function refused(): Promise<void> {
    const started = performance.now();
    const routing = { max_latency_ms: 1_000 };
    const { status, error } = await call('query_knowledge', { query: 'harbour', routing });
    expect([status, error?.code]).toEqual([503, 'UNAVAILABLE']);
    expect(JSON.stringify(error)).not.toContain(qdrant.key);
    // Not an assertion on speed: a hub that waited for Qdrant would never answer.
    expect(performance.now() - started).toBeLessThan(60_000);
  }

  test('[KNOW-17] [KNOW-9] what was just written is found there, counted, and in its workspace only', async () => {
    const id = await write('Port', 'The harbour is closed.');
    const other = await write('Port', 'The harbour of others.', 'w2');
    const answer = await ask('harbour');
    expect(answer.context.map(({ document_id }) => document_id)).toEqual([id]);
    expect(answer.usage).toMatchObject({ backend: 'qdrant', qdrant_hits: 1, keyword_hits: 1 });
    expect(answer.response).toContain('The harbour is closed. [1]');
    expect(await found('harbour', 'w2')).toEqual([other]);
    expect(await found('harbour', 'w3')).toEqual([]);
    expect(existsSync(join(data, 'search.db'))).toBe(false);
  });

  test('[KNOW-17] while Qdrant hangs the hub writes on and says that it cannot search; then it catches up', async () => {
    qdrant.freeze();
    const id = await write('Harbour', 'The harbour is open again.');
    await refused();
    qdrant.thaw();
    await vi.waitFor(async () => expect(await found('open harbour again')).toContain(id), 60_000);
  });

  test('[KNOW-17] the same when it is gone, comes back, and has lost everything', async () => {
    const before = await found('harbour');
    await qdrant.kill();
    const id = await write('Harbour', 'A new harbour is built.');
    await refused();
    await qdrant.again({ fresh: true });
    await vi.waitFor(async () => {
      const answer = await ask('harbour');
      expect(answer.missing).not.toContain('changes');
      expect(answer.context.map(({ document_id }) => document_id).toSorted()).toEqual(
        [...before, id].toSorted(),
      );
    }, 60_000);
  });

  test('[KNOW-17] a hub that starts without its Qdrant serves everything else, and searches when it is there', async () => {
    expect(await hub.stop()).toBe(0);
    await qdrant.kill();
    hub = await start();
    await refused();
    await qdrant.again();
    await vi.waitFor(async () => expect(await found('harbour')).toHaveLength(3), 60_000);
  });
});
