import { issueWords } from './issue-words.ts';
import { fieldsOf } from './read-unknown.ts';
import type { z } from 'zod';

import { decodeJson, type JsonLimits } from './json.ts';
import { isOpaque, LIVE_PAYLOADS, LiveEnvelope, type LiveMessage, Opaque } from './live.ts';
import { LiveError } from './live-errors.ts';

/** How far ahead of the hub's clock a sender's clock may be. */
const AHEAD_MS = 86_400_000;

/** No clock of a sender shows an earlier time than this. */
const EARLIEST_MS = Date.UTC(2000, 0, 1);

/** Reads one text as a message; every fault names its field, and the message's id where that could be read. */
export function decodeLive(text: string, limits: JsonLimits, nowMs: number): LiveMessage {
  let value: unknown;
  try {
    value = decodeJson(text, limits);
  } catch (error) {
    throw new LiveError('INVALID_COMMAND', error instanceof Error ? error.message : 'not JSON', {
      field: 'message',
    });
  }
  return parseLive(value, nowMs);
}

/** Checks a decoded value as a message. */
export function parseLive(value: unknown, nowMs: number): LiveMessage {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new LiveError('INVALID_COMMAND', 'a message is a JSON object', { field: 'message' });
  const envelope = LiveEnvelope.safeParse(value);
  const id = LiveEnvelope.shape.id.safeParse(fieldsOf(value)['id']);
  const requestId = id.success ? { requestId: id.data } : {};
  if (!envelope.success) throw invalid(envelope.error.issues[0], value, '', requestId);
  const at = Date.parse(envelope.data.timestamp);
  if (!(at >= EARLIEST_MS && at <= nowMs + AHEAD_MS))
    throw new LiveError('INVALID_COMMAND', 'timestamp: is not of this time', {
      field: 'timestamp',
      ...requestId,
    });
  const { type } = envelope.data;
  const sealed = isOpaque(envelope.data.payload);
  const payload = (sealed ? Opaque : LIVE_PAYLOADS[type]).safeParse(envelope.data.payload);
  if (!payload.success) throw invalid(payload.error.issues[0], envelope.data.payload, 'payload', requestId);
  // Its payload was checked by the schema of its type.
  return { ...envelope.data, payload: payload.data } as LiveMessage;
}

function invalid(
  issue: z.core.$ZodIssue | undefined,
  input: unknown,
  prefix: string,
  requestId: { requestId?: string },
): LiveError {
  const path = [...(prefix === '' ? [] : [prefix]), ...(issue?.path ?? []).map(String)];
  const field = path.join('.');
  return new LiveError('INVALID_COMMAND', `${field}: ${issueWords(issue, input)}`, {
    field,
    ...requestId,
  });
}
