import { createHash, createPrivateKey, randomBytes, randomUUID, sign } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** What the clients are to do; they live in a process of their own. */
export type ClientOrder =
  | { do: 'open'; port: number; count: number; from?: number; key: Key | undefined; thread: string }
  | { do: 'round'; port: number; head: string; body: string; marker: string };

interface Key {
  kid: string;
  pem: string;
}

export interface RoundReport {
  /** From the request until the last of all connections had the frame. */
  sent: number;
  /** From the answer to the request. */
  answered: number;
}

interface Client {
  socket: Socket;
  buffered: Buffer;
}

const clients: Client[] = [];
let onText: (text: Buffer) => void = () => {};

process.on('message', (order: ClientOrder) => {
  const work = order.do === 'open' ? open(order) : round(order);
  void work.then((report) => process.send?.(report ?? 'done'));
});

async function open({ port, count, from = 0, key, thread }: ClientOrder & { do: 'open' }): Promise<void> {
  for (let i = 0; i < count; i += 100) {
    const batch = Array.from({ length: Math.min(100, count - i) }, (_, k) =>
      dial(port, from + i + k, key, thread),
    );
    await Promise.all(batch);
  }
}

async function round({ port, head, body, marker }: ClientOrder & { do: 'round' }): Promise<RoundReport> {
  let left = clients.length;
  const started = performance.now();
  const all = new Promise<number>((resolve) => {
    onText = (text) => {
      if (text.includes(marker) && --left === 0) resolve(performance.now());
    };
  });
  const answered = post(port, head, body);
  const [last, at] = await Promise.all([all, answered]);
  return { sent: last - started, answered: Math.max(0, last - at) };
}

function post(port: number, head: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', reject);
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    socket.once('data', (chunk) => {
      if (!chunk.toString().startsWith('HTTP/1.1 200')) reject(new Error(chunk.toString()));
      resolve(performance.now());
      socket.destroy();
    });
  });
}

/** A WebSocket by hand, as light as can be: what is measured is the server. */
function dial(port: number, i: number, key: Key | undefined, thread: string) {
  return new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const client: Client = { socket, buffered: Buffer.alloc(0) };
    const agent = `follower-${i}`;
    const token = key === undefined ? '' : `authorization: Bearer ${tokenFor(agent, key)}\r\n`;
    const nonce = randomBytes(16).toString('base64');
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.write(
      `GET /ws?version=1.0 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${nonce}\r\n${token}\r\n`,
    );
    let ready = false;
    socket.on('data', (chunk: Buffer) => {
      client.buffered = client.buffered.length === 0 ? chunk : Buffer.concat([client.buffered, chunk]);
      if (!ready) {
        const end = client.buffered.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!client.buffered.includes('101')) return reject(new Error(client.buffered.toString()));
        ready = true;
        client.buffered = client.buffered.subarray(end + 4);
        clients.push(client);
        if (thread === '') return resolve();
        socket.write(masked(followMessage(agent, thread)));
      }
      take(client, resolve);
    });
  });
}

function take(client: Client, followed: () => void): void {
  for (;;) {
    const { buffered } = client;
    if (buffered.length < 2) return;
    const short = (buffered[1] ?? 0) & 0x7f;
    const head = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (buffered.length < head) return;
    const size =
      short === 126 ? buffered.readUInt16BE(2) : short === 127 ? Number(buffered.readBigUInt64BE(2)) : short;
    if (buffered.length < head + size) return;
    const payload = buffered.subarray(head, head + size);
    const op = (buffered[0] ?? 0) & 0x0f;
    client.buffered = buffered.subarray(head + size);
    if (op === 9) client.socket.write(masked(payload.toString(), 0x8a));
    else if (payload.includes('"command_response"')) followed();
    else onText(payload);
  }
}

function followMessage(source: string, thread_id: string): string {
  return JSON.stringify({
    id: randomUUID(),
    type: 'command',
    timestamp: new Date().toISOString(),
    source,
    target: 'parley',
    payload: { command: 'follow', parameters: { thread_id } },
  });
}

function masked(text: string, first = 0x81): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? [first, 0x80 | payload.length]
      : [first, 0xfe, payload.length >> 8, payload.length & 255];
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}

function tokenFor(agent: string, { kid, pem }: Key): string {
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    agent_id: agent,
    workspace_id: 'default',
    role: 'orchestrator',
    session_id: agent,
    iat,
    exp: iat + 3_600,
    jti: createHash('sha256').update(`${agent}${iat}`).digest('hex'),
  };
  const text = [{ alg: 'EdDSA', kid, typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), createPrivateKey(pem)).toString('base64url')}`;
}
