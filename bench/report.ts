import { type BenchPromise, isKept, type PromiseId, PROMISES, promiseText } from './promises.ts';

/** A promise that this run has measured. */
export interface Outcome {
  id: PromiseId;
  what: string;
  figure: string;
  promised: string;
  held: boolean;
  /** Not promised yet: it does not count as broken. */
  aim: boolean;
}

/** The promises that were measured in this run, in order. */
export const outcomes: Outcome[] = [];

/** Where the report goes: with --json stdout is for the JSON alone. */
const out = process.argv.includes('--json') ? process.stderr : process.stdout;

/** One line of the report. */
export function line(what: string, figure: string): void {
  out.write(`${what.padEnd(34)} ${figure}\n`);
}

/** Holds a figure against what is promised of it; `what` and `figure` say more where one promise has several cases. */
export function hold(id: PromiseId, value: number, told: { what?: string; figure?: string } = {}): void {
  const promise: BenchPromise = PROMISES[id];
  const { what = promise.what, figure = `${Number(value.toPrecision(3))} ${promise.unit}` } = told;
  const promised = promiseText(promise);
  const held = isKept(promise, value);
  const isAim = promise.aim === true;
  const verdict = held ? 'held' : isAim ? 'not reached' : 'BROKEN';
  line(what, `${figure}  (${isAim ? 'aim' : 'promised'} ${promised}: ${verdict})`);
  outcomes.push({ id, what, figure, promised, held, aim: isAim });
}
