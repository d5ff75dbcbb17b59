/** What can be made anew from the log. */
export type DerivedPart = 'threads' | 'records' | 'index';

/** What is told while a record is opened or repaired: damage that stays, what was made anew, how far one has come. */
export type OpeningNews =
  | { kind: 'fault'; text: string }
  | { kind: 'rebuilt'; part: DerivedPart; text: string }
  | { kind: 'progress'; text: string };

export type Hear = (news: OpeningNews) => void;

const EVERY_MS = 2_000;

/** Says how far something has come, but not too often. */
export function createProgress(hear: Hear, what: string): (done: number, all: number) => void {
  let reported = performance.now();
  return (done, all) => {
    if (performance.now() - reported < EVERY_MS) return;
    reported = performance.now();
    hear({ kind: 'progress', text: `${what}: ${done} of ${all}` });
  };
}
