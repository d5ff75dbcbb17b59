import { appendFileSync } from 'node:fs';

import type { LongFormId } from './long-forms.ts';

/** Notes a figure of a long form for the table of `npm run prove`; call it before the figure is held against its bound. */
export function measured(id: LongFormId, what: string, figure: string): void {
  const path = process.env['PROVE_FIGURES'];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ id, what, figure })}\n`);
}
