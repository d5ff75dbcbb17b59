import { checkRecord } from '@parley/store-sqlite';
import { expect } from 'vitest';

import type { PostResult, StoredMessage } from './hub-client.ts';

/** An acknowledged post, as its writer remembers it. */
export interface Ack extends PostResult {
  agent: string;
  key: string;
  body: string;
}

/** Acknowledged means there, unchanged; seq is 1..n; one record per sender and key. */
export function expectHonestLog(log: readonly StoredMessage[], acks: readonly Ack[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
  const keys = log.map(({ sender_agent_id, idempotency_key }) => `${sender_agent_id} ${idempotency_key}`);
  expect(new Set(keys).size).toBe(keys.length);
  const wrong = acks.filter(({ seq, message_id, agent, key, body, created_at }) => {
    const found = log[seq - 1];
    return (
      found?.message_id !== message_id ||
      found.sender_agent_id !== agent ||
      found.idempotency_key !== key ||
      found.body !== body ||
      found.created_at !== created_at
    );
  });
  expect(wrong).toEqual([]);
}

/** The record on disk is sound by SQLite's check, by its hash chains and by a replay of every thread. */
export function expectSoundRecord(folder: string): void {
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
}
