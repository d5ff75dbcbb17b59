import type { Entry, EntryType } from '@parley/core';
import type { Ask, AskVerdict } from '@parley/protocol';

/** What somebody has asked to be written, under a key of its own. */
export interface Request {
  /** Stands in what is written, and nowhere else. */
  token: string;
  workspace: string;
  sender: string;
  /** The type of the entry that comes of it. */
  type: EntryType;
  state: 'pending' | 'acknowledged' | 'refused';
  /** Where it stands, as far as its sender was told. */
  thread_id?: string;
  seq?: number;
  /** What is carried out later: its writer is the queue. */
  delivery_id?: string;
}

/** One who follows, with all that it was given. */
export interface Following {
  workspace: string;
  who: string;
  /** Undefined for one who follows the whole workspace. */
  thread_id: string | undefined;
  seesAll: boolean;
  entries: { place: number; entry: Entry }[];
}

/** What was seen from outside: this is what the promises are held against. */
export interface History {
  requests: Map<string, Request>;
  followings: Following[];
  /** The highest place that each reader was told to be recorded, by thread and reader. */
  acknowledgedReading: Map<string, number>;
  /** How far each agent has fetched the messages of a thread. */
  fetched: Map<string, number>;
  /** For which thread and whom each wake was asked for. */
  triggers: Map<string, string>;
  /** A verdict that was seen once, by its ask. */
  verdicts: Map<string, string>;
  calls: number;
  acknowledged: number;
  /** Something was seen that must not be. */
  broken: { promise: string; what: string }[];
  isBroken: (promise: string, what: string) => void;
  sawAsk(ask: Ask): void;
}

/** An empty history. */
export function createHistory(): History {
  const history: History = {
    requests: new Map(),
    followings: [],
    acknowledgedReading: new Map(),
    fetched: new Map(),
    triggers: new Map(),
    verdicts: new Map(),
    calls: 0,
    acknowledged: 0,
    broken: [],
    isBroken(promise, what) {
      if (history.broken.length < 20) history.broken.push({ promise, what });
    },
    sawAsk({ ask_id, verdict }) {
      if (verdict === undefined) return;
      const words = wordsOf(verdict);
      const before = history.verdicts.get(ask_id);
      if (before !== undefined && before !== words)
        history.isBroken('one verdict per ask', `${ask_id}: ${before} became ${words}`);
      history.verdicts.set(ask_id, words);
    },
  };
  return history;
}

/** A verdict as it is compared. */
export function wordsOf({ decision, by, at, reason = '' }: AskVerdict): string {
  return `${decision} by ${by} at ${at} ${reason}`.trim();
}

/** A name that stands in nothing but what this step writes. */
export function tokenOf(workspace: string, n: number | string): string {
  return `tok-${workspace}-${n}-end`;
}
