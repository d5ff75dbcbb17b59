import { tell } from './output.ts';
import { span } from './span.ts';

/** How often a person at a terminal hears of it, and how often it stands in a log. */
const TERMINAL_MS = 100;
const LOG_MS = 1_000;

export interface Progress {
  /** So much is done; `total` where it has become known only now. */
  reached(count: number, total?: number): void;
  /** Leaves a clean line behind. */
  end(): void;
}

export interface Steps<Step extends string> {
  reached(this: void, now: { step: Step; done: number; all: number }): void;
  end(): void;
}

/**
 * Says how far a long work has come, how fast it goes and how long it will take: at a terminal in one line that changes,
 * elsewhere in a line a second, or not at all where `quiet`. What takes less than a second is over before.
 */
export function createCounter(verb: string, known: number, { quiet = false } = {}): Progress {
  const { isTTY } = process.stderr;
  /** When the first piece was done, and how many there were then: neither the way to it nor an earlier run is of this speed. */
  let began: { at: number; count: number } | undefined;
  let printedAt = 0;
  let total = known;
  let isShown = false;
  return {
    reached(count, all = total) {
      total = all;
      const now = Date.now();
      if (began === undefined) {
        began = { at: now, count };
        printedAt = now;
      }
      if (now - printedAt < (isTTY ? TERMINAL_MS : LOG_MS)) return;
      printedAt = now;
      if (!isTTY && quiet) return;
      const text = `${verb} ${progressWords(count, total, count - began.count, now - began.at)}`;
      if (!isTTY) return tell(text);
      process.stderr.write(`\r${text.slice(0, columns() - 1)}\u001b[K`);
      isShown = true;
    },
    end() {
      if (isShown) process.stderr.write('\r\u001b[K');
      isShown = false;
    },
  };
}

/** A line for each step of a work, one after another. */
export function createSteps<Step extends string>(verbs: Readonly<Record<Step, string>>): Steps<Step> {
  let at: Step | undefined;
  let counter: Progress | undefined;
  return {
    reached({ step, done, all }) {
      if (step !== at) {
        counter?.end();
        counter = createCounter(verbs[step], 0);
        at = step;
      }
      counter?.reached(done, all);
    },
    end: () => counter?.end(),
  };
}

function columns(): number {
  const { columns: width } = process.stderr;
  return width > 0 ? width : 80;
}

/** Such as `1200 of 5000 (24 %), 600/s, 6 s left`. */
export function progressWords(count: number, total: number, done: number, ms: number): string {
  const rate = (done * 1_000) / Math.max(1, ms);
  const part = total > 0 ? ` of ${total} (${Math.min(100, Math.floor((count / total) * 100))} %)` : '';
  if (rate <= 0) return `${count}${part}`;
  const left = total > count ? `, ${span(((total - count) / rate) * 1_000)} left` : '';
  return `${count}${part}, ${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s${left}`;
}
