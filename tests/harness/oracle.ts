import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Message } from '@parley/protocol';
import { expect } from 'vitest';

import type { Answer } from './face-driver.ts';
import { send } from './send.ts';
import type { HubProcess } from './start-hub.ts';
import { linesOf, recordOf } from './stored-record.ts';

/** What the callers of one hub were told, to be held against its record and its log. */
export interface Ledger {
  acknowledged: { thread_id: string; seq: number; message_id: string }[];
  refusals: { request_id: string; code: string }[];
  /** Must stand in no log line: every token used, and whatever a test adds. */
  secrets: Set<string>;
}

/** One line of the hub's log. */
export type LogLine = Record<string, unknown> & { level: string; msg: string };

export function emptyLedger(): Ledger {
  return { acknowledged: [], refusals: [], secrets: new Set() };
}

/** Keeps what an answer promised. */
export function note(ledger: Ledger, answer: Answer, input: unknown): void {
  const { error, result } = answer;
  if (error !== undefined) ledger.refusals.push({ request_id: error.request_id, code: error.code });
  if (answer.operation === 'post_message' && result !== undefined) {
    const { thread_id } = input as { thread_id: string };
    ledger.acknowledged.push({ thread_id, ...(result as { seq: number; message_id: string }) });
  }
}

/** After each case: the hub lives, its record is whole (SQLite's check, gapless seq, chain, states), its files are private. */
export async function checkRunning(hub: HubProcess): Promise<void> {
  expect(hub.ended(), `the hub has ended: ${hub.stderr().slice(-2_000)}`).toBe(false);
  const health = await send(`${hub.url}/healthz`);
  expect([health.status, health.text]).toEqual([200, '{"ok":true}']);
  await checkStored(hub.data);
}

/** What must hold of a data folder whether a hub runs on it or not. */
export async function checkStored(data: string): Promise<void> {
  const report = await (await recordOf(data)).check();
  expect(report.problems).toEqual([]);
  expect(report.ok).toBe(true);
  expect(modeOf(data)).toBe('700');
  // SQLite's files come and go beside us.
  const modes = readdirSync(data, { recursive: true, withFileTypes: true }).map((found) => {
    const path = join(found.parentPath, found.name);
    const wanted = found.isDirectory() ? '700' : '600';
    return `${path} ${modeOf(path) ?? wanted} ${wanted}`;
  });
  expect(modes.filter((line) => !/ (\d+) \1$/.test(line))).toEqual([]);
}

/** After the last case: everything acknowledged is on disk, one record per key, and the log tells each refusal once. */
export async function checkEnded(
  hub: HubProcess,
  ledger: Ledger,
  options: { keysMayRepeat?: boolean } = {},
): Promise<void> {
  await checkStored(hub.data);
  const messages = await storedMessages(hub.data);
  const idByPlace = new Map(
    messages.map((message) => [`${message.thread_id} ${message.seq}`, message.message_id]),
  );
  const lost = ledger.acknowledged.filter(
    ({ thread_id, seq, message_id }) => idByPlace.get(`${thread_id} ${seq}`) !== message_id,
  );
  expect(lost, 'acknowledged but not stored').toEqual([]);
  if (options.keysMayRepeat !== true) expect(repeatedKeys(messages)).toEqual([]);
  checkLog(hub.stderr(), ledger);
}

/** Every stored message, from the disk. */
export async function storedMessages(data: string): Promise<Message[]> {
  return (await linesOf(data))
    .map((line) => JSON.parse(line) as { type: string; entry: Message })
    .filter((line) => line.type === 'entry' && line.entry.seq > 0)
    .map((line) => line.entry);
}

/** The log as objects; a line that is not JSON fails here. */
export function parseLog(stderr: string): LogLine[] {
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}

function checkLog(stderr: string, ledger: Ledger): void {
  const lines = parseLog(stderr);
  const codesById = new Map<string, unknown[]>();
  for (const line of lines) {
    const id = String(line['request_id']);
    codesById.set(id, [...(codesById.get(id) ?? []), line['code']]);
  }
  const untold = ledger.refusals.filter(
    ({ request_id, code }) => JSON.stringify(codesById.get(request_id)) !== JSON.stringify([code]),
  );
  expect(untold, 'refusals without exactly one log line of their code').toEqual([]);
  const leaked = [...ledger.secrets].filter((secret) => stderr.includes(secret));
  expect(leaked, 'secrets in the log').toEqual([]);
}

function repeatedKeys(messages: readonly Message[]): string[] {
  const seen = new Set<string>();
  return messages.flatMap(({ thread_id, sender_agent_id, idempotency_key }) => {
    if (idempotency_key === undefined) return [];
    const tuple = JSON.stringify([thread_id, sender_agent_id, idempotency_key]);
    if (seen.has(tuple)) return [tuple];
    seen.add(tuple);
    return [];
  });
}

function modeOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : (stat.mode & 0o777).toString(8);
}
