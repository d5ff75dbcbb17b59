import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { OperationName, OutputOf } from '@parley/protocol';
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

  const as = (agent: string, role: string, workspace = 'w') => signer.token({ agent, role, workspace });
  const call = <N extends OperationName>(name: N, input: object, workspace?: string) =>
    v1Driver.call(hub.url, as('ed', 'orchestrator', workspace), name, input);

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

  test('[HUB-M10] [R12] messages are found there by their meaning, by those who may read them; without it by their words', async () => {
    const made = await call('create_thread', { title: 't', participants: ['bob'] });
    const thread_id = made.result?.thread_id ?? '';
    await call('post_message', {
      thread_id,
      body: 'Felines sleep most of the day.',
      kind: 'chat',
      schema_version: 1,
    });
    const search = async (agent: string, query: string) => {
      const token = as(agent, 'worker');
      const { result } = await v1Driver.call(hub.url, token, 'search_messages', { query, mode: 'hybrid' });
      return { bodies: result?.hits.map(({ message }) => message.body), missing: result?.missing };
    };
    // By meaning, once there are vectors and the model had the time.
    const byMeaning = (agent: string, bodies: string[]): Promise<void> =>
      vi.waitFor(async () => {
        expect(await search(agent, 'when do pets rest?')).toEqual({ bodies, missing: [] });
      }, 60_000);
    await byMeaning('bob', ['Felines sleep most of the day.']);
    await byMeaning('eve', []);
    expect((await qdrant.collections()).some((name) => name.includes('_messages_'))).toBe(true);
    qdrant.freeze();
    try {
      const { bodies, missing } = await search('bob', 'felines');
      expect(bodies).toEqual(['Felines sleep most of the day.']);
      expect(missing).toContain('meaning');
    } finally {
      qdrant.thaw();
    }
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
