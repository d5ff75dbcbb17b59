import { hash } from 'node:crypto';

import type { Message } from '@parley/protocol';

/** What an entry can be to the rules; only entries the hub itself makes may change a thread's state. */
export const ENTRY_TYPES = [
  'message',
  'task',
  'result',
  'control',
  'presence',
  'thread.created',
  'thread.status',
  'thread.renamed',
  'side.opened',
  'side.closed',
  'agent.registered',
  'agent.command',
  'agent.response',
  'agent.forgotten',
  'agent.error_dismissed',
  'agent.wake',
  'agent.quiet',
  'agent.approval_rule',
  'agent.passkey',
  // What older hubs called it.
  'agent.leave',
  'ask.raised',
  'ask.answered',
  'ask.resolved',
  'document.created',
  'document.updated',
  'document.moved',
  'document.deleted',
  'document.restored',
  'document.reverted',
  'tree.ordered',
  'tree.purged',
  'deprecation',
  'delivery.dead',
  'delivery.redriven',
  'artifact.created',
] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

/** One item of a thread's log, as it is stored and hashed for ever. Seq 0 is the thread's own creation. */
export interface Entry extends Message {
  type: EntryType;
  /** Whom it names and does not call, and why; with `called` it is what was decided when it was written. */
  not_called?: { agent: string; why: string }[];
}

/** The chain starts here: the hash before a thread's first entry. */
export const CHAIN_START = '';

/** An entry's bytes and its link in the thread's hash chain. */
export interface SealedEntry {
  json: string;
  hash: string;
}

/** Freezes an entry into bytes and chains them to all that came before. */
export function seal(previousHash: string, entry: Entry): SealedEntry {
  const json = JSON.stringify(entry);
  return { json, hash: link(previousHash, json) };
}

/** The hash that must follow `previousHash` when `json` is the next entry. */
export function link(previousHash: string, json: string): string {
  return hash('sha256', `${previousHash}\n${json}`, 'base64url');
}

/** The entry in its stored text, whose place in the chain its reader has held against its hash. */
export function readEntry(json: string): Entry {
  // `seal` wrote it, and the chain shows that it is as it was.
  return JSON.parse(json) as Entry;
}

/** The message that callers see of an entry. */
export function toMessage(entry: Entry): Message {
  const { type: _type, not_called: _told, ...message } = entry;
  return message;
}

/** What an entry of the hub's own tells: its rule alone writes that type, so what it put there is what stands there. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Whoever reads an entry says what its type tells.
export function factsOf<F extends object>({ metadata }: Pick<Entry, 'metadata'>): F {
  // The hub's own rule wrote it.
  return metadata as F;
}
