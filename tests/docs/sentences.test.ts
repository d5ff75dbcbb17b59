import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { ROOT } from './page.ts';

/** As many words a sentence may have; code counts as one word, and after a colon or a semicolon a new one begins. */
const MOST = 25;

/** The pages that people read; a decision is a note of its day, and the reference is made from the schemas. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'clients/typescript/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/^(?:decisions|reference)/.test(name))
    .map((name) => `docs/${name}`),
];

function sentencesOf(page: string): string[] {
  return page
    .replaceAll(/^( *)```.*?^\1```$|<!--.*?-->/gms, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^(?:\||#|$)/.test(line))
    .flatMap((line) =>
      line
        .replace(/^(?:[-*]|\d+\.) /, '')
        .replaceAll(/`[^`]*`/g, 'X')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .split(/(?<=[!.:;?])["”)*]*\s+(?=[A-Z“"(*])/),
    );
}

test.each(pages)('the sentences of %s can be read in one breath', (path) => {
  const sentences = sentencesOf(readFileSync(join(ROOT, path), 'utf8'));
  expect(sentences.filter((one) => one.split(/\s+/).length > MOST)).toEqual([]);
});
