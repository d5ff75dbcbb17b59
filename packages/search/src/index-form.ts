import { createHash } from 'node:crypto';

import type { ModelChoice } from './model-files.ts';

/** Raised when texts are cut or their words taken apart in another way: every document is then put anew, one after the other. */
const CUT = 6;

/** The way in which the documents of an index are taken apart; it stands beside the version of each. */
export interface IndexForm {
  id: string;
  /** A version as it is kept. */
  seal(version: string): string;
  /** The version of a document as it came; empty for one that was taken apart in another way, so that it is put anew. */
  open(kept: string): string;
}

/** The form of passages that are measured by a model, or by their letters. */
export function formOf(measure: ModelChoice | undefined): IndexForm {
  const what = JSON.stringify([CUT, measure?.name.id ?? 'letters', measure?.window]);
  const id = createHash('sha256').update(what).digest('hex').slice(0, 8);
  const seal = ` ~${id}`;
  return {
    id,
    seal: (version) => `${version}${seal}`,
    open: (kept) => (kept.endsWith(seal) ? kept.slice(0, -seal.length) : ''),
  };
}
