import { randomUUID } from 'node:crypto';

import { WebSocket } from 'ws';

/** One of many followers of threads: it checks on arrival that nothing is missing and nothing comes twice. */
export interface Member {
  agent: string;
  /** The newest seq it has. */
  last: number;
  /** How often it has connected. */
  opened: number;
  /** What came out of turn. */
  faults: string[];
  ws: WebSocket | undefined;
  close(): void;
}

export interface SwarmOptions {
  url: () => string;
  count: number;
  token: (agent: string) => string;
  /** Undefined for those who only hold the line. */
  thread: (i: number) => string | undefined;
  /** Whether to come back when the connection ends. */
  faithful?: boolean;
  /** How many dial at once. */
  batch?: number;
}

const AGAIN_MS = 50;

/** Connects many clients, a batch at a time; resolves when all of them follow. */
export async function openSwarm(options: SwarmOptions): Promise<Member[]> {
  const { count, batch = 200 } = options;
  const members: Member[] = [];
  for (let i = 0; i < count; i += batch) {
    const size = Math.min(batch, count - i);
    members.push(...(await Promise.all(Array.from({ length: size }, (_, k) => join(options, i + k)))));
  }
  return members;
}

function join(options: SwarmOptions, i: number): Promise<Member> {
  const agent = `member-${i}`;
  const token = options.token(agent);
  const thread_id = options.thread(i);
  let closed = false;
  return new Promise((resolve) => {
    const member: Member = { agent, last: 0, opened: 0, faults: [], ws: undefined, close };
    function close(): void {
      closed = true;
      member.ws?.terminate();
    }
    function open(): void {
      if (closed) return;
      const ws = new WebSocket(`${options.url().replace('http', 'ws')}/ws`, {
        perMessageDeflate: false,
        headers: { authorization: `Bearer ${token}` },
      });
      member.ws = ws;
      ws.on('error', () => {});
      ws.on('close', (code) => {
        if (options.faithful === true) setTimeout(open, AGAIN_MS + Math.random() * AGAIN_MS);
        else if (!closed) member.faults.push(`closed with ${code}`);
      });
      ws.on('open', () => {
        member.opened++;
        if (thread_id === undefined) return resolve(member);
        const parameters = { thread_id, since_seq: member.last };
        ws.send(
          JSON.stringify({
            id: randomUUID(),
            type: 'command',
            timestamp: new Date().toISOString(),
            source: agent,
            target: 'parley',
            payload: { command: 'follow', parameters },
          }),
        );
      });
      ws.on('message', (data: Buffer) => {
        const text = data.toString('latin1');
        const seq = Number(/"data":\{"thread_id":"[^"]+","seq":(\d+)/.exec(text)?.[1]);
        if (!Number.isNaN(seq)) {
          if (seq !== member.last + 1) member.faults.push(`${seq} after ${member.last}`);
          member.last = seq;
        } else if (text.includes('"command_response"')) resolve(member);
        // How others are is told to all who are connected.
        else if (text.includes('"type":"status_update"')) return;
        else member.faults.push(text);
      });
    }
    open();
  });
}
