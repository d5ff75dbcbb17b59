import type { OutputOf } from '@parley/protocol';

import type { Base, InThread } from '../command.ts';
import type { Ignored } from '../results.ts';

/** A sender's own number for what it sends in one context; a lower one than the last is not carried out. */
export interface Order {
  context_id: string;
  seq: number;
}
/** A read under a key: first its number is noted and its key asked, then its answer is kept. */
export type NoteRead = Base<
  'note_read',
  Record<string, unknown>,
  /** The answer of the read, where it is kept. */ Record<string, unknown>
> & {
  order?: Order;
  answer?: Record<string, unknown>;
};
/** A nonce may be used once until it has run out. */
export type UseNonce = Base<'use_nonce', { kid: string; nonce: string; until: number }>;
/** The hub itself forgets nonces that have run out. */
export type ForgetNonces = Base<'forget_nonces', { keys: readonly string[] }, { forgotten: number }>;
/** An old name of a role was used: once a quarter that stands in the log of the tree. */
export type NoteAlias = InThread<'note_alias', { alias: string; role: string }, { quarter: string }>;
/** An action that is to end is used; `ends_at` is when its owner would like it to. */
export type NoteDeprecation = InThread<
  'note_deprecation',
  { action: string; version: string; ends_at: string; use?: string },
  { announced_at: string; ends_at: string }
>;
export type ReportHealth = Base<
  'report_health',
  { status: 'healthy' | 'degraded'; note?: string },
  OutputOf<'report_health'> | Ignored
> & {
  order?: Order;
};

/** What changes envelopes. */
export type EnvelopeCommands =
  | NoteRead
  | UseNonce
  | ForgetNonces
  | NoteAlias
  | NoteDeprecation
  | ReportHealth;
