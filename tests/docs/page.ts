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

/** What is shown as output, line by line, without what differs from run to run. */
export function shownBy(blocks: readonly Block[]): string[] {
  return blocks.filter(({ language }) => language === 'text').flatMap(({ text }) => maskedLines(text));
}

/** The JSON that is shown as what a command before it answers. */
export function answersOn(blocks: readonly Block[]): unknown[] {
  return blocks.flatMap(({ language, text }, i) =>
    language === 'json' && blocks[i - 1]?.language === 'sh' ? [JSON.parse(text) as unknown] : [],
  );
}

/** The JSON objects in what came out, wherever they begin. */
export function jsonIn(output: string): unknown[] {
  const found: unknown[] = [];
  for (let at = output.indexOf('{'); at >= 0; at = output.indexOf('{', at)) {
    const object = objectAt(output, at);
    if (object !== undefined) found.push(JSON.parse(object));
    at += object?.length ?? 1;
  }
  return found;
}

function objectAt(text: string, start: number): string | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth++;
    if (token === '}' && --depth === 0) return text.slice(start, start + index + 1);
  }
  return undefined;
}

/** The same with ids, times and figures masked. */
export function masked(value: unknown): unknown {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string')
    return value
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'HUB')
      .replaceAll(/^(?:\d{4}-\d\d-\d\dT[\d:.]+Z|…)$/g, 'TIME')
      .replaceAll(/\b(?:th|msg|art|dlv)_[\w…]+|\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ID');
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner)]));
  return value;
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
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ID')
        .replaceAll(/\b[0-9A-Z]{6}\b(?= |$)/g, 'ID')
        .replaceAll(PERSON, 'YOU')
        .replaceAll(/\d+/g, '0')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '');
}
