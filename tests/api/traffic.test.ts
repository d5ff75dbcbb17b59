import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { send } from '../harness/send.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { differences, RECORDER } from '../harness/traffic.ts';

const WS = createRequire(import.meta.url).resolve('ws');

/** Something that answers on the ways of a hub, and each time otherwise than described. */
const IMPOSTOR = `
import { createServer } from 'node:http';
import ws from ${JSON.stringify(WS)};
const server = createServer((request, response) => {
  const path = request.url.split('?')[0];
  const say = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (path === '/v1/whoami') return say(200, { agent_id: 7 });
  if (path === '/v1/list_threads') return say(418, {});
  if (path === '/v1/openapi.json') return say(200, {});
  if (path === '/v1/threads/thr_1/stream') {
    response.setHeader('content-type', 'text/event-stream');
    return response.write('event: message\\ndata: {"seq":"one"}\\n\\nevent: message\\ndata: {"half":');
  }
  request.resume().on('end', () => say(200, { jsonrpc: '2.0', id: 1, result: { structuredContent: { ok: 'yes' } } }));
}).listen(0, '127.0.0.1', () => console.log(server.address().port));
new ws.WebSocketServer({ server, path: '/ws' }).on('connection', (ws) => ws.on('message', () => ws.send('{"type":"event"}')));
process.on('SIGTERM', () => process.exit(0));
`;

test('what a hub takes and gives is written down, and each difference from its descriptions is named', async () => {
  const data = freshFolder();
  const [script, file] = [join(data, '../impostor.mjs'), join(data, '../traffic')];
  writeFileSync(script, IMPOSTOR);
  const child = spawn(process.execPath, ['--import', RECORDER, script], {
    env: { PARLEY_TRAFFIC: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(line).trim()}`;
  const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  for (let i = 0; i < 3; i++) await send(`${url}/v1/whoami`, post);
  await send(`${url}/v1/list_threads`, post);
  await send(`${url}/v1/openapi.json`);
  const call = { id: 1, method: 'tools/call', params: { name: 'ack_read', arguments: { thread_id: 3 } } };
  await send(`${url}/mcp`, { ...post, body: JSON.stringify(call) });
  const stop = new AbortController();
  const stream = await fetch(`${url}/v1/threads/thr_1/stream`, { signal: stop.signal });
  await stream.body?.getReader().read();
  stop.abort();
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  await once(ws, 'open');
  ws.send('{}');
  await once(ws, 'message');
  ws.terminate();
  child.kill('SIGTERM');
  await once(child, 'close');
  const found = differences(readFileSync(file));
  const about = (start: string): string[] => found.filter((one) => one.startsWith(start));
  expect(about('POST /v1/whoami 200: answer 200:')).toHaveLength(3);
  expect(about('POST /v1/list_threads 418: status 418 is not described')).toHaveLength(1);
  expect(about('POST /mcp 200: tool ack_read')).toHaveLength(2);
  // Of a stream that is cut off, the whole events count and the half one does not.
  expect(about('GET /v1/threads/thr_1/stream 200: answer 200:')).toHaveLength(1);
  expect(about('/ws sent:')).toHaveLength(1);
  expect(found).toHaveLength(8);
});
