import { type Counts, plus, type SpentTurn, usageOf } from './spent-turn.ts';

/** A turn that is not reported yet: numbers and ids alone, so that it can be kept. */
export interface OpenTurn {
  /** By which the runtime knows it, where it does. */
  id?: string;
  /** By which the hub knows it. */
  key?: string;
  /** When it was last at work. */
  at: string;
  thread_id?: string;
  isOver: boolean;
  /** Its last requests, oldest first: what is reported of one may yet grow. */
  requests: { id: string; model: string; counts: Counts }[];
  /** What those before them used, by model. */
  byModel: Record<string, Counts>;
}

/** Of a turn with more requests the sum is kept. */
const MOST_REQUESTS = 32;

export function newTurn(at: string, about: Pick<OpenTurn, 'id' | 'key' | 'thread_id'>): OpenTurn {
  return { ...about, at, isOver: false, requests: [], byModel: {} };
}

/** Adds a request, or what is better known of it by now. */
export function addRequest(turn: OpenTurn, request: OpenTurn['requests'][number]): void {
  const known = turn.requests.find(({ id }) => id === request.id);
  if (known !== undefined) {
    // A message comes in several lines, and the first may stand there before it is finished.
    if ((request.counts.output ?? 0) >= (known.counts.output ?? 0)) Object.assign(known, request);
    return;
  }
  turn.requests.push(request);
  const [first] = turn.requests;
  if (turn.requests.length <= MOST_REQUESTS || first === undefined) return;
  turn.requests.shift();
  turn.byModel[first.model] = plus(turn.byModel[first.model] ?? {}, first.counts);
}

/** What the turn used in the end; undefined where it used nothing. */
export function spentBy({ key, at, thread_id, requests, byModel }: OpenTurn): SpentTurn | undefined {
  const models = { ...byModel };
  for (const { model, counts } of requests) models[model] = plus(models[model] ?? {}, counts);
  const usage = usageOf(models);
  if (usage === undefined || key === undefined) return undefined;
  return { key, at, ...(thread_id === undefined ? {} : { thread_id }), usage };
}
