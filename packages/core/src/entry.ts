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
  'agent.wake',
  'agent.quiet',
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

/** The message that callers see of an entry. */
export function toMessage(entry: Entry): Message {
  const { type: _type, ...message } = entry;
  return message;
}
