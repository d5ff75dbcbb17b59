import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const RULES = `{ resultTypes: ['violations'], preload: { assets: ['media'] }, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }`;

/** What axe finds in a page that takes scripts of others (`bypassCSP`): in all of it, or as its arguments say. */
export async function axe(page: Page, how = `document, ${RULES}`): Promise<string[]> {
  // A page keeps it as long as it is not loaded anew.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  // What it found in order is far more, and nobody reads it.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(${how}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 140)} ${failureSummary.slice(0, 200)}`,
    ),
  );
}
