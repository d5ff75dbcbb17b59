import type { EnvelopeAction, EnvelopeCode } from '@parley/protocol';

/** What happens to deliveries, in the order in which it happens. */
export type QueueEventKind = 'accepted' | 'delivered' | 'retried' | 'dead' | 'redriven';

/** One thing that happened to one delivery, once it is on record. */
export interface QueueEvent {
  kind: QueueEventKind;
  delivery_id: string;
  /** The tenant. */
  workspace_id: string;
  /** The principal who sent it. */
  agent_id: string;
  action: EnvelopeAction;
  /** Why it is tried again, or dead. */
  code?: EnvelopeCode;
  /** How often it has been tried. */
  attempts: number;
  /** Milliseconds since it was accepted. */
  ms: number;
  /** How long after its promised time it came to its end; below zero when it was sooner. */
  pastEtaMs?: number;
}

/** Hears of every delivery: counters attach here (`deliveryQueue` in the hub's start). It must not throw. */
export type QueueObserver = (event: QueueEvent) => void;
