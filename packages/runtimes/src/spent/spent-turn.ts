import type { TurnUsage } from '@parley/protocol';

/** A turn that is over, as the runtime's own record tells it: numbers and names, never a text. */
export interface SpentTurn {
  /** The same wherever the turn is read: a copy of a record tells nothing new. */
  key: string;
  /** When it was last at work. */
  at: string;
  /** The thread whose wake began it. */
  thread_id?: string;
  usage: TurnUsage;
}

/** What requests used; a count that the runtime leaves out stays out. */
export interface Counts {
  input?: number;
  cached?: number;
  output?: number;
  reasoning?: number;
}

const NAMES = ['input', 'cached', 'output', 'reasoning'] as const;
/** What a report may hold. */
const MOST_TOKENS = 1_000_000_000;
const MODEL_CHARS = 128;

/** The sum of both. */
export function plus(a: Counts, b: Counts): Counts {
  const counts: Counts = {};
  for (const name of NAMES)
    if (a[name] !== undefined || b[name] !== undefined) counts[name] = (a[name] ?? 0) + (b[name] ?? 0);
  return counts;
}

/** A turn in the hub's words; of several models the one that wrote most is named. Undefined where nothing was used. */
export function usageOf(byModel: Readonly<Record<string, Counts>>): TurnUsage | undefined {
  const models = Object.keys(byModel);
  const all = models.reduce<Counts>((sum, model) => plus(sum, byModel[model] ?? {}), {});
  if (NAMES.every((name) => (all[name] ?? 0) === 0)) return undefined;
  const output = (model: string): number => byModel[model]?.output ?? 0;
  const [model = ''] = models.toSorted((a, b) => output(b) - output(a));
  const tokens = (name: keyof Counts): number | undefined =>
    all[name] === undefined ? undefined : Math.min(MOST_TOKENS, all[name]);
  return given({
    model: model === '' ? undefined : model.slice(0, MODEL_CHARS),
    input_tokens: tokens('input'),
    cached_input_tokens: tokens('cached'),
    output_tokens: tokens('output'),
    reasoning_tokens: tokens('reasoning'),
  });
}

/** The fields that are there. */
export function given<T extends object>(fields: { [N in keyof T]: T[N] | undefined }): T {
  // What is left out may be left out of a T.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
