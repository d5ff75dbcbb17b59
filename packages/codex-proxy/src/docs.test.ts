import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { SETTINGS } from './config/schema.ts';
import { proxyError } from './errors.ts';
import { listTools } from './tools/schemas.ts';

const page = readFileSync(new URL('../../../docs/atm-agent-mcp.md', import.meta.url), 'utf8');
const rows = (heading: string): string[][] =>
  (page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.replaceAll('`', '').trim()));

test('the page tells every setting as it is', () => {
  expect(rows('Settings').map(([, key, fallback, meaning]) => [key, fallback, meaning])).toEqual(
    Object.entries(SETTINGS).map(([key, { fallback, description }]) => [
      key,
      JSON.stringify(fallback),
      description,
    ]),
  );
});

test('the page tells every tool and every error', () => {
  expect(rows('Tools').map(([, name]) => name)).toEqual(listTools().map(({ name }) => name));
  const reported = rows('Errors').flatMap(([, code, name]) => (Number(code) > -32_010 ? [[code, name]] : []));
  expect(reported).toHaveLength(9);
  for (const [code, name] of reported) expect(proxyError(name as never, '').code).toBe(Number(code));
});
