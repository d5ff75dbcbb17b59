import { HTTP_STATUS, type OperationName, type OutputOf } from '@parley/protocol';

import { faces, v1Driver } from '../harness/call.ts';
import type { Answer, FaceDriver } from '../harness/face-driver.ts';
import { type Reply, send } from '../harness/send.ts';

type Json = Record<string, unknown>;

/** An event as the face gives it back. */
export interface Event {
  id?: string;
  ts: string;
  thread: string;
  type: string;
  from: string;
  to: string;
  content: unknown;
  meta: Json & { seq: number };
}

/** The events that say what an operation says; the other operations have none. */
const EVENTS: Partial<Record<OperationName, (input: Json) => Json>> = {
  post_message: ({ body, to, in_reply_to, metadata }) => ({
    type: 'message',
    content: body,
    to,
    meta: { reply_to: in_reply_to, tags: (metadata as Json | undefined)?.['tags'] },
  }),
  control_thread: ({ control, to, in_reply_to, tags }) => ({
    type: 'control',
    content: control,
    to,
    meta: { reply_to: in_reply_to, tags },
  }),
  set_presence: ({ state, profile, ttl_ms, persist, to, in_reply_to, tags }) => ({
    type: 'presence',
    content: { state, details: profile, ttl_ms, persist },
    to,
    meta: { reply_to: in_reply_to, tags },
  }),
  assign_task: ({ body, to, role }) => ({ type: 'task', content: body, to, meta: { role } }),
  report_result: ({ body, output, task, to }) => ({
    type: 'result',
    content: body ?? output,
    to,
    meta: { reply_to: task },
  }),
};

/** `POST /v1/threads/{id}/events` where an operation has an event, `/v1` where not. */
export const eventsDriver: FaceDriver = {
  name: 'events',
  async call(url, token, operation, input, options = {}) {
    const toEvent = EVENTS[operation];
    if (toEvent === undefined) return v1Driver.call(url, token, operation, input, options);
    const { thread_id, idempotency_key, ...content } = input as Json & { thread_id: string };
    const event = { id: idempotency_key, ...toEvent(content) };
    return toAnswer(operation, await postEvent(url, token, thread_id, event));
  },
  statusOf: (code) => HTTP_STATUS[code],
};

/** Every face that has the conversation. */
export const bridgeFaces: readonly FaceDriver[] = [...faces, eventsDriver];

/** Posts one event as it is. */
export function postEvent(
  url: string,
  token: string | undefined,
  threadId: string,
  event: unknown,
): Promise<Reply> {
  return send(`${url}/v1/threads/${threadId}/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof event === 'string' ? event : JSON.stringify(event),
  });
}

/** A page of a thread's events. */
export async function readEvents(
  url: string,
  token: string,
  threadId: string,
  query = '',
): Promise<{ events: Event[]; next_seq: number; has_more: boolean }> {
  const { status, text } = await send(`${url}/v1/threads/${threadId}/events${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (status !== 200) throw new Error(`the events were refused: ${status} ${text}`);
  return JSON.parse(text) as { events: Event[]; next_seq: number; has_more: boolean };
}

/** Reads an events reply as the answer of the operation behind it. */
function toAnswer<N extends OperationName>(operation: N, { status, headers, text }: Reply): Answer<N> {
  const body = JSON.parse(text) as Json;
  const base = { operation, status, headers };
  if (status !== 200) return { ...base, result: undefined, error: body['error'] as Answer['error'] };
  const { event, ...rest } = body as { event: Event };
  const written = event.id === undefined ? {} : { message_id: `msg_${event.id}`, seq: event.meta.seq };
  const result = { ...rest, ...written, created_at: event.ts } as unknown as OutputOf<N>;
  return { ...base, result, error: undefined };
}
