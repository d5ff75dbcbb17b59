import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CONTROL_AUTHORITY, LADDERS, POLICY_RULES, SKIP_REASONS, TRANSITIONS } from '@parley/core';
import {
  AGENT_STATES,
  AskStatus,
  CONTRACTS,
  DEFER_REASONS,
  DELIVERY_EVIDENCE,
  ENVELOPE_ACTIONS,
  ENVELOPE_STATUS,
  EVENT_KINDS,
  EVENT_METADATA,
  HTTP_STATUS,
  LIMITS,
  PROGRAM_KINDS,
  SESSION_COMMANDS,
  TERMINAL_COMMANDS,
} from '@parley/protocol';
import { expect, test } from 'vitest';

import { TRIED, TRIED_MANAGED } from '../../packages/hub/src/wake/versions.ts';
import { parley } from '../cli/parley.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The rows of the table under a heading, cells without their code marks. */
function tableUnder(text: string, heading: string): string[][] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim()),
    )
    .slice(2);
}

test.each(documents)('%s: every link leads somewhere and every file it names is there', (path) => {
  const text = read(path);
  for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? path : join(dirname(path), file);
    expect(existsSync(join(root, place)), target).toBe(true);
    if (anchor === undefined) continue;
    const headings = [...read(place).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(headings, target).toContain(anchor);
  }
  for (const [, name = ''] of text.matchAll(
    /`((?:packages|specs|tests|docs|examples|scripts|bench)\/[\w./-]+)`/g,
  ))
    if (path !== 'CONTRIBUTING.md') expect(existsSync(join(root, name)), name).toBe(true);
});

test('every button that a how-to page names in quotes is on the dashboard', () => {
  const folder = 'packages/dashboard/src';
  const screens = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => read(join(folder, name)))
    .join('\n');
  const named = documents
    .filter((path) => path.startsWith('docs/how-to/'))
    .map((path) => read(path).replaceAll(/^( *)```.*?^\1```$|`[^`]*`/gms, ''))
    .flatMap((prose) => [...prose.matchAll(/"([^"\n]+)"/g)].map(([, label = '']) => label));
  expect(named).toContain('Sign one in');
  for (const label of named) expect(screens).toContain(label);
});

test('every command that a document types is there', async () => {
  const help = (await parley(['--help'])).stdout;
  const known = [...help.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
  const all = documents.map(read).join('\n');
  const typed = [...all.matchAll(/(?:^|`|\$\(|\.\/)parley ([a-z]+)/gm)].map(([, name]) => name);
  for (const name of typed) expect(known).toContain(name);
});

test('the guide tells the statuses as the rules have them', () => {
  const rows = tableUnder(read('docs/guide.md'), 'Statuses');
  const columns = Object.keys(TRANSITIONS);
  const told = rows.map(([from = '', ...cells]) => [
    from,
    Object.fromEntries(columns.flatMap((to, i) => (cells[i] === '' ? [] : [[to, cells[i]]]))),
  ]);
  expect(Object.fromEntries(told)).toEqual(TRANSITIONS);
});

test('the states of asks and agents are told, each once', () => {
  expect(tableUnder(read('docs/asks.md'), 'States').map(([name]) => name)).toEqual(AskStatus.options);
  const told = tableUnder(read('docs/agents.md'), 'States').map(([name]) => name);
  expect(new Set(told)).toEqual(new Set(AGENT_STATES));
  expect(told).toHaveLength(AGENT_STATES.length);
  expect(read('docs/asks.md')).toContain(`${LIMITS.open_asks} open at once`);
});

test('the guide tells every error code with its HTTP status', () => {
  const rows = tableUnder(read('docs/guide.md'), 'Errors');
  expect(Object.fromEntries(rows.map(([code = '', status]) => [code, Number(status)]))).toEqual(HTTP_STATUS);
});

test('the guide tells every event and every limit', () => {
  const guide = read('docs/guide.md');
  expect(tableUnder(guide, 'Events').map(([name]) => name)).toEqual(Object.keys(EVENT_METADATA));
  const numbers = tableUnder(guide, 'Limits').flatMap(([, bound = '']) => bound.match(/\d+/g) ?? []);
  for (const [name, bound] of Object.entries(LIMITS)) expect(numbers, name).toContain(String(bound));
  // Bounds that other rows have too could stand in the wrong one.
  const rows = Object.fromEntries(tableUnder(guide, 'Limits'));
  expect(rows['text of a document']).toMatch(new RegExp(`^${LIMITS.document_bytes} bytes`));
  expect(rows['messages per page']).toContain(`${LIMITS.page_bytes} bytes`);
});

test('the page of the HTTP face tells every operation with its resource', () => {
  const rows = tableUnder(read('docs/faces/http.md'), 'Call an operation');
  const real = Object.values(CONTRACTS).map((contract) => [
    contract.name,
    'http' in contract ? `${contract.http.method} ${contract.http.path}` : '',
  ]);
  expect(rows).toEqual(real);
});

test('the page of the supervisor tells every command, every reason to wait and every kind of program', () => {
  const page = read('docs/supervisor.md');
  const first = (heading: string) => tableUnder(page, heading).map(([name]) => name);
  expect(first('Commands')).toEqual(Object.keys(TERMINAL_COMMANDS));
  expect(first('Why it waits')).toEqual([...DEFER_REASONS]);
  expect(first('Kinds of programs')).toEqual([...PROGRAM_KINDS]);
  expect(first('Commands without a terminal')).toEqual(Object.keys(SESSION_COMMANDS));
  for (const word of DELIVERY_EVIDENCE) expect(page).toContain(`\`${word}\``);
});

test('the pages of documents and envelopes tell every operation, action and code', () => {
  const page = read('docs/faces/envelope.md');
  expect(Object.fromEntries(tableUnder(page, 'Actions'))).toEqual(ENVELOPE_ACTIONS);
  const codes = tableUnder(page, 'Errors').map(([code = '', status]) => [code, Number(status)]);
  expect(Object.fromEntries(codes)).toEqual(ENVELOPE_STATUS);
  const reported = tableUnder(read('docs/knowledge.md'), 'What can be done').map(([name]) => name);
  const real = Object.keys(CONTRACTS).filter((name) => /document|knowledge|promote/.test(name));
  expect(new Set(reported)).toEqual(new Set(real));
});

test('the page of the events face tells every type, every control with who may give it, and every rule', () => {
  const page = read('docs/faces/events.md');
  expect(tableUnder(page, 'The event').map(([type]) => type)).toEqual(EVENT_KINDS);
  const controls = tableUnder(page, 'Controls').map(([verb = '', , who]) => [verb, who]);
  expect(Object.fromEntries(controls)).toEqual(CONTROL_AUTHORITY);
  const rules = tableUnder(page, 'Who should respond').map(([rule]) => rule);
  expect(rules).toEqual(Object.keys(POLICY_RULES));
});

test('the page on waking tells the ladder, the versions that were tried and every reason not to wake', () => {
  const page = read('docs/waking.md');
  const reported = tableUnder(page, 'The ladder').map(([family, door, action]) => [family, door, action]);
  const real = Object.entries(LADDERS).flatMap(([family, rungs]) =>
    rungs.map(({ door, action }) => [family, door, action]),
  );
  expect(reported).toEqual(real);
  const versions = Object.entries(TRIED).map(([door, { from, below }]) => [door, from, below]);
  expect(tableUnder(page, 'Setting it up')).toEqual(versions);
  for (const { from, below } of Object.values(TRIED_MANAGED))
    expect(page).toContain(`from ${from} below ${below}`);
  expect(tableUnder(page, 'When nobody is woken')).toEqual(Object.entries(SKIP_REASONS));
});
