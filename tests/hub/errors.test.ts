import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

import { ERROR_CODES, HTTP_STATUS } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { send, type SendOptions } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { bad, envelopeOf, good, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { dial, registration } from '../ws/live-client.ts';

const scene = useHub({ settings: { ...WITHOUT_MODEL, 'knowledge.agents_create_under': '["root"]' } });

describe('refusals', () => {
  /** A request that must be refused in the envelope, with a request id that stands in the log. */
  async function refusal(
    path: string,
    options: SendOptions = {},
  ): Promise<{ status: number; code: string; headers: Record<string, unknown> }> {
    const alice = scene.as('alice');
    const { status, headers, text } = await send(`${scene.hub.url}${path}`, {
      ...options,
      headers: { authorization: `Bearer ${alice.token}`, ...options.headers },
    });
    const body = JSON.parse(text) as { error: { code: string; message: string; request_id: string } };
    expect(Object.keys(body)).toEqual(['error']);
    expect(Object.keys(body.error).filter((key) => key !== 'details')).toEqual([
      'code',
      'message',
      'request_id',
    ]);
    expect(body.error.request_id).toBe(headers['x-request-id']);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    scene.ledger.refusals.push(body.error);
    return { status, code: body.error.code, headers };
  }

  test('[HUB-V1] JSON in, JSON out, under /v1', async () => {
    const alice = scene.as('alice');
    const { status, headers, text } = await send(`${scene.hub.url}/v1/create_thread`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${alice.token}` },
      body: '{"title":"x"}',
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(JSON.parse(text)).toMatchObject({ status: 'active' });
    expect((await refusal('/create_thread', { method: 'POST', body: '{"title":"x"}' })).status).toBe(404);
  });

  interface DescribedPath {
    get?: { responses: Record<'200', { content: Record<string, unknown> }> };
  }

  /** The status and the type of an answer; a stream never ends by itself, so its connection is closed then. */
  async function head(
    url: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; type: string }> {
    const leaving = new AbortController();
    const { status, headers: told } = await fetch(url, { headers, signal: leaving.signal });
    leaving.abort();
    return { status, type: told.get('content-type')?.split(';')[0] ?? '' };
  }

  test('[HUB-V1] every operation is described, and reads have a resource-style path beside it', async () => {
    const { status, text } = await send(`${scene.hub.url}/v1/openapi.json`);
    expect(status).toBe(200);
    const { paths } = JSON.parse(text) as { paths: Record<string, DescribedPath> };
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    const { message_id } = await alice.say(thread_id, 'hello');
    await alice.ok('register_agent', { name: 'Alice' });
    const { ask } = await alice.ok('raise_ask', { prompt: 'may I?' });
    const { ask_id } = ask as { ask_id: string };
    const document_id = randomUUID();
    await alice.ok('create_document', {
      document_id,
      parent_id: 'root',
      content: { mime_type: 'text/markdown', body: '# Hello' },
      metadata: { title: 'Hello' },
    });
    const headers = { authorization: `Bearer ${alice.token}` };
    const file = { name: 'a.txt', mime_type: 'text/plain', content: 'hello' };
    const { artifact_id } = (await alice.ok('put_artifact', file)).artifact;
    const heartbeat = envelopeOf(
      'registry.heartbeat',
      { status: 'healthy' },
      { principal: { sub: 'alice', roles: ['agent'] } },
    );
    const later = await sendEnvelope(scene.hub.url, alice.token, heartbeat, {
      headers: { prefer: 'respond-async' },
    });
    const gets = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}));
    expect(gets.length).toBeGreaterThanOrEqual(6);
    // Some reads are for a person alone.
    const person = { authorization: `Bearer ${scene.as('olga', { role: 'operator' }).token}` };
    for (const path of gets) {
      const filled = path
        .replace('{thread_id}', thread_id)
        .replace('{message_id}', message_id)
        .replace('{of_agent}', 'alice')
        .replace('{ask_id}', ask_id)
        .replace('{artifact_id}', artifact_id)
        .replace('{delivery_id}', String(later.body.data?.['delivery_id']))
        .replace('{document_id}', document_id);
      const query = path.includes('search') ? '?query=hello' : path.includes('live') ? '?wait_ms=0' : '';
      const reply = await head(`${scene.hub.url}${filled}${query}`, person);
      const [type = ''] = Object.keys(paths[path]?.get?.responses['200'].content ?? {});
      expect([path, reply.status, reply.type]).toEqual([path, 200, type]);
    }
    const read = await send(`${scene.hub.url}/v1/threads/${thread_id}/messages?since_seq=0&limit=1`, {
      headers,
    });
    expect(JSON.parse(read.text)).toEqual(
      await alice.ok('read_messages', { thread_id, since_seq: 0, limit: 1 }),
    );
  });

  test('[HUB-R4] [C-HUB-23] an unknown path is NOT_FOUND in the envelope', async () => {
    const paths = [
      '/nothing',
      '/v1',
      '/v1/',
      '/v2/create_thread',
      '/v1/nothing',
      '/v1/threads/a/b/c',
      '/V1/create_thread',
      '//v1/create_thread',
      '/v1/create_thread/',
      '/v1/../v1/nothing',
      '/v1/%63reate_thread',
      '/v1/constructor',
      '/v1/__proto__',
      '/favicon.ico',
    ];
    await scene.unchanged(async () => {
      for (const path of paths) {
        for (const method of ['GET', 'POST']) {
          const { status, code } = await refusal(path, { method });
          expect([path, status, code]).toEqual([path, 404, 'NOT_FOUND']);
        }
      }
    });
  });

  test('[HUB-R4] [C-HUB-23] a wrong verb is refused and told the right one', async () => {
    const thread_id = await scene.as('alice').thread();
    await scene.unchanged(async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        const { status, code, headers } = await refusal('/v1/create_thread', { method });
        expect([method, status, code, headers['allow']]).toEqual([method, 405, 'NOT_FOUND', 'POST']);
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await refusal(`/v1/threads/${thread_id}`, { method });
        expect([method, status, headers['allow']]).toEqual([method, 405, 'GET']);
      }
    });
  });

  test('[C-HUB-23] refusals leave the connection open for the next call', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (const [path, body] of [
      ['/v1/nothing', ''],
      ['/v1/nothing', '{"title":"x"}'],
      ['/v1/list_threads', '{}'],
      ['/v1/list_threads', '{'],
      ['/v1/list_threads', '{}'],
    ] as const) {
      await new Promise<void>((resolve, reject) => {
        const outgoing = request(`${scene.hub.url}${path}`, { method: 'POST', agent }, (response) => {
          response.resume().once('end', resolve);
        });
        outgoing.once('error', reject);
        outgoing.once('socket', (socket) => {
          if (socket.localPort !== undefined) ports.add(socket.localPort);
          else socket.once('connect', () => ports.add(socket.localPort));
        });
        outgoing.end(body);
      });
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  test('[HUB-R4] the codes and their statuses do not drift', () => {
    expect(ERROR_CODES.map((code) => [code, HTTP_STATUS[code]])).toEqual([
      ['UNAUTHORIZED', 401],
      ['FORBIDDEN', 403],
      ['OUT_OF_SCOPE_WORKSPACE', 403],
      ['NOT_FOUND', 404],
      ['CONFLICT', 409],
      ['RATE_LIMITED', 429],
      ['VALIDATION_ERROR', 400],
      ['WAKE_FAILED', 502],
      ['UNMANAGED_RUNTIME', 409],
      ['HUMAN_INPUT_COLLISION', 409],
      ['CLAIM_MISMATCH', 403],
      ['INSUFFICIENT_AUTHORITY', 403],
      ['IDEMPOTENCY_CONFLICT', 409],
      ['EXPIRED', 440],
      ['UNAVAILABLE', 503],
      ['INTERNAL', 500],
    ]);
  });

  test('[HUB-R4] a foreign Host or Origin is refused before anything else', async () => {
    await scene.unchanged(async () => {
      for (const headers of [
        { host: 'evil.example' },
        { host: '127.0.0.1.evil.example' },
        { host: 'localhost:1' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: 'http://127.0.0.1' },
      ]) {
        const { status, code } = await refusal('/v1/list_threads', { method: 'POST', body: '{}', headers });
        expect([headers, status, code]).toEqual([headers, 403, 'FORBIDDEN']);
      }
    });
    const { port } = new URL(scene.hub.url);
    for (const headers of [
      { host: `localhost:${port}` },
      { host: `127.0.0.1:${port}`, origin: `http://localhost:${port}` },
    ]) {
      const { token } = scene.as('alice');
      const reply = await send(`${scene.hub.url}/v1/threads`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      expect(reply.status).toBe(200);
      expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });
});

describe('repeated headers', () => {
  /** Sends a request line by line, as no HTTP client would, and gives what comes back. */
  function raw(path: string, lines: string[]): Promise<string> {
    const { hostname, port } = new URL(scene.hub.url);
    const method = READ.has(path) ? 'GET' : 'POST';
    const text = [`${method} ${path} HTTP/1.1`, ...lines, '', '{}'].join('\r\n');
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  }

  const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

  const READ = new Set([
    '/healthz',
    '/v1/openapi.json',
    '/v1/asyncapi.json',
    '/v1/capabilities',
    '/v1/stream',
    '/d/00000000-0000-4000-8000-000000000000',
    '/ws?version=1.0',
  ]);

  const PATHS = [
    ...READ,
    '/v1/list_threads',
    '/mcp',
    '/mcp/envelope',
    '/v1/threads/th_x/events',
    '/v1/live/messages',
    '/v1/ws_ticket',
    '/session',
  ];

  describe.each(PATHS)('%s', (path) => {
    const head = (...more: string[]): string[] => [
      'Connection: close',
      'Content-Length: 2',
      ...(path.startsWith('/ws')
        ? ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
        : []),
      ...more,
    ];

    test('two Host headers are refused, whichever stands first, before the token is looked at', async () => {
      const { host } = new URL(scene.hub.url);
      const { token } = scene.as('alice');
      for (const hosts of [
        [host, 'evil.example'],
        ['evil.example', host],
        [host, host],
      ])
        for (const bearer of [`Bearer ${token}`, 'Bearer nonsense']) {
          const [first = '', second = ''] = hosts;
          const lines = [
            `Host: ${first}`,
            'Content-Type: application/json',
            `Authorization: ${bearer}`,
            `hOST: ${second}`,
          ];
          const answer = await raw(path, head(...lines));
          expect([hosts, statusOf(answer)]).toEqual([hosts, 400]);
          expect(answer).toContain('send the header host once');
        }
    });

    test('and so is a second one of any other header that counts once', async () => {
      const { host } = new URL(scene.hub.url);
      const { token } = scene.as('alice');
      const own = [
        `Host: ${host}`,
        `Origin: http://${host}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        'Sec-Fetch-Site: same-origin',
      ];
      for (const again of own.slice(1)) {
        const answer = await raw(path, head(...own, again));
        expect([again, statusOf(answer)]).toEqual([again, 400]);
      }
      for (const framing of ['Content-Length: 2', 'Content-Length: 0', 'Transfer-Encoding: chunked'])
        expect(statusOf(await raw(path, head(...own, framing)))).toBe(400);
    });
  });

  test('what may come several times still does', async () => {
    const { host } = new URL(scene.hub.url);
    const lines = [
      `Host: ${host}`,
      'Connection: close',
      'Content-Length: 2',
      'Content-Type: application/json',
      `Authorization: Bearer ${scene.as('alice').token}`,
      'Accept: application/json',
      'Accept: text/event-stream',
      'Cookie: a=1',
      'Cookie: b=2',
    ];
    expect(statusOf(await raw('/v1/list_threads', lines))).toBe(200);
  });
});

describe('unknown fields', () => {
  const since = 'since: is not known here; did you mean since_seq?';

  test('over resources an unknown field of the query is told, and a stream refuses it', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread('bob');
    const get = (accept: string) =>
      send(`${scene.hub.url}/v1/threads/${thread_id}/messages?since=3`, {
        headers: { authorization: `Bearer ${alice.token}`, accept },
      });
    const page = await get('application/json');
    expect(JSON.parse(page.text)).toMatchObject({ warnings: [since], messages: [] });
    const stream = await get('text/event-stream');
    expect([stream.status, JSON.parse(stream.text)]).toMatchObject([
      400,
      { error: { code: 'VALIDATION_ERROR', message: since } },
    ]);
  });

  test('in an envelope it is told at once, also of what is carried out later, or refused', async () => {
    const { token } = scene.as('ed', { role: 'orchestrator' });
    const call = (action: string, args: object, more = {}, headers = {}) =>
      sendEnvelope(scene.hub.url, token, envelopeOf(action, { ...args }, more), { headers });
    const page = newPage({ colour: 'red' });
    expect(good(await call('knowledge.create_document', page, { priority: 'high' }))).toMatchObject({
      id: page.document_id,
      warnings: ['priority: is not known here', 'colour: is not known here'],
    });
    const { document_id } = page;
    const update = { document_id, patch: { is_human_readable: false }, update_mask: ['is_human_readable'] };
    const deleting = { document_id, deleted_at: '2099-01-01T00:00:00Z' };
    await scene.unchanged(async () => {
      const guarded = await call('knowledge.update_document', { ...update, last_revision: 7 });
      expect(bad(guarded, 'UNPROCESSABLE_ENTITY')['field']).toBe('last_revision');
      expect(bad(await call('knowledge.delete_document', deleting), 'UNPROCESSABLE_ENTITY')['field']).toBe(
        'deleted_at',
      );
      // Who guards a change by a revision that nobody looks at must hear of it.
      const guard = { document_id, last_known_revision: 1 };
      for (const [action, args] of [
        ['knowledge.move_document', { ...guard, new_parent_id: 'root' }],
        ['knowledge.restore_document', guard],
      ] as const)
        expect(bad(await call(action, args), 'UNPROCESSABLE_ENTITY')['field']).toBe('last_known_revision');
    });
    const later = await call(
      'knowledge.create_document',
      newPage({ parent: 'x' }),
      {},
      { prefer: 'respond-async' },
    );
    expect(later.body.data?.['warnings']).toEqual(['parent: is not known here; did you mean parent_id?']);
  });

  test('over the socket it is told in the answer of a command', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread('bob');
    const live = await dial(scene.hub.url, 'alice', alice.token);
    expect(await live.hub('register_agent', { ...registration, maxConcurent: 3 })).toMatchObject({
      warnings: ['maxConcurent: is not known here; did you mean maxConcurrent?'],
    });
    expect(await live.hub('follow', { thread_id, since: 3 })).toEqual({
      thread_id,
      since_seq: 0,
      warnings: ['since: is not known here'],
    });
    expect(await live.hub('follow', { thread_id, since_seq: 0 })).toEqual({ thread_id, since_seq: 0 });
    expect(await live.hub('read_messages', { thread_id, since: 3 })).toMatchObject({ warnings: [since] });
    await live.close();
  });
});
