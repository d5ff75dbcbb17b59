/** Hears how far a reading has come, in entries. */
export type Reached = (done: number, all: number) => void;

/** What a full reading of the record found. */
export interface RecordReport {
  ok: boolean;
  integrity: 'ok' | 'damaged';
  chain: 'ok' | 'broken';
  index: 'ok' | 'differs';
  schema_version: number;
  sqlite_version: string;
  counts: {
    threads: number;
    entries: number;
    messages: number;
    cursors: number;
    sessions: number;
    agents: number;
    asks: number;
    documents: number;
    artifacts: number;
    deliveries: number;
    dead_letters: number;
    idempotency_keys: number;
  };
  problems: string[];
  /** The first of the problems of each sort. */
  first: { integrity?: string | undefined; chain?: string | undefined; index?: string | undefined };
}

/** What is told of a record that has nothing in it yet. */
export function emptyReport(): RecordReport {
  return {
    ok: true,
    integrity: 'ok',
    chain: 'ok',
    index: 'ok',
    schema_version: 0,
    sqlite_version: '',
    counts: {
      threads: 0,
      entries: 0,
      messages: 0,
      cursors: 0,
      sessions: 0,
      agents: 0,
      asks: 0,
      documents: 0,
      artifacts: 0,
      deliveries: 0,
      dead_letters: 0,
      idempotency_keys: 0,
    },
    problems: [],
    first: {},
  };
}
