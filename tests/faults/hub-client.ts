import { Agent, request } from 'node:http';

import type { CrashHub } from './crash-hub.ts';
import { tokenFor } from './crash-hub.ts';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  body: T;
  headers: Record<string, string | string[] | undefined>;
}

export interface PostResult {
  message_id: string;
  seq: number;
  created_at: string;
}

export interface StoredMessage extends PostResult {
  body: string;
  sender_agent_id: string;
  idempotency_key?: string;
}

/** One agent that speaks to a hub; a broken connection throws, every answer is returned. */
export interface HubClient {
  agent: string;
  call<T = Record<string, unknown>>(operation: string, input: unknown): Promise<Answer<T>>;
  close(): void;
}

/** Connects an agent with a token of the hub's own key, or one given. */
export async function connect(hub: CrashHub, agent: string, token?: string): Promise<HubClient> {
  return clientOf(hub.url, agent, token ?? (await tokenFor(hub.folder, agent)));
}

/** The agent behind a token, on whatever URL the hub has now. */
export function clientOf(url: string, agent: string, token: string): HubClient {
  const pool = new Agent({ keepAlive: true });
  return {
    agent,
    close: () => pool.destroy(),
    call: <T>(operation: string, input: unknown) => send<T>(pool, `${url}/v1/${operation}`, token, input),
  };
}

function send<T>(pool: Agent, url: string, token: string, input: unknown): Promise<Answer<T>> {
  const text = JSON.stringify(input);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        agent: pool,
        timeout: 30_000,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(chunks).toString()) as T,
            headers: response.headers,
          }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 30 s')));
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

/** The answer's body; throws when the call was refused. */
export function ok<T>({ status, body }: Answer<T>): T {
  if (status !== 200) throw new Error(`refused with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Starts a thread that all these agents may write to. */
export async function createThread(client: HubClient, participants: readonly string[] = []): Promise<string> {
  const input = { title: 'faults', participants };
  return ok(await client.call<{ thread_id: string }>('create_thread', input)).thread_id;
}

/** Posts one message; the body stands for itself and the key settles retries. */
export function post(
  client: HubClient,
  thread: string,
  body: string,
  key?: string,
): Promise<Answer<PostResult>> {
  return client.call('post_message', {
    thread_id: thread,
    schema_version: 1,
    body,
    ...(key === undefined ? {} : { idempotency_key: key }),
  });
}

interface Page {
  messages: StoredMessage[];
  next_seq: number;
  has_more: boolean;
}

/** The whole thread, page by page. */
export async function readAll(client: HubClient, thread: string): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let since = 0;
  for (;;) {
    const page = ok(
      await client.call<Page>('read_messages', { thread_id: thread, since_seq: since, limit: 200 }),
    );
    messages.push(...page.messages);
    since = page.next_seq;
    if (!page.has_more) return messages;
  }
}

/** What `/healthz` says. */
export async function health(hub: CrashHub): Promise<number> {
  const response = await fetch(`${hub.url}/healthz`);
  await response.arrayBuffer();
  return response.status;
}
