import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone in which the pages stand. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced part of a page. */
export interface Block {
  language: string;
  text: string;
}

/** The fenced parts of a page, in order; with a second-level heading only those under it. */
export function blocksOf(path: string, heading?: string): Block[] {
  const whole = readFileSync(join(ROOT, path), 'utf8');
  const rest = heading === undefined ? whole : (whole.split(`\n${heading}\n`)[1] ?? '');
  const text = heading?.startsWith('## ') === true ? (rest.split(/^## /m)[0] ?? '') : rest;
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(
    ([, indent = '', language = '', body = '']) => ({
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The shell blocks of a page as one script. */
export function scriptOf(path: string, heading?: string): string {
  return blocksOf(path, heading)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
    .join('\n');
}

/** What a page shows as output, line by line, without what differs from run to run. */
export function shownBy(path: string, heading?: string): string[] {
  return blocksOf(path, heading)
    .filter(({ language }) => language === 'text')
    .flatMap(({ text }) => maskedLines(text));
}

/** The person on the pages is called kim. */
const PERSON = new RegExp(`\\b(?:kim|${userInfo().username})\\b`, 'g');

/** Lines without ids, times, figures, the name of the person and the width of columns. */
export function maskedLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\b(?:th|msg|tok|art|dev|ask|dlv|key|rule|ch)[_-][\w-]+/g, 'ID')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
        .replaceAll(/\b[0-9A-Z]{6}\b(?= |$)/g, 'ID')
        .replaceAll(PERSON, 'YOU')
        .replaceAll(/\d+/g, '0')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '');
}
