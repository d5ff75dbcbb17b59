import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createIdentities, type Identities } from '../identity/identities.ts';
import { createClosingMark } from './closing-mark.ts';

const log = (): void => {};
const soon = (): Date => new Date(Date.now() + 10_000);
let sessions: string;
let team: string;
let mark: string;
beforeEach(() => {
  sessions = mkdtempSync(join(tmpdir(), 'closing-'));
  team = join(sessions, 'default');
  mark = join(team, 'codex', 'closing.json');
});
afterEach(() => rmSync(sessions, { recursive: true }));

/** Identities that do something of our own at one of their calls. */
const during = (
  identities: Identities,
  call: 'hold' | 'close',
  act: (then: () => void) => void,
): Identities => ({
  ...identities,
  [call]: (identity: string) => act(() => identities[call](identity)),
});

test('[FR-6.1] who ends gives its identity back before its mark goes', () => {
  const ending = createIdentities(sessions, 'default');
  ending.hold('codex');
  createClosingMark(team, 'codex').set(soon());
  const seen: boolean[] = [];
  const watched = during(ending, 'close', (close) => {
    seen.push(existsSync(mark));
    close();
  });
  createClosingMark(team, 'codex').release(watched);
  expect(seen).toEqual([true]);
  expect(existsSync(mark)).toBe(false);
});

test('[FR-6.1] the mark of the next one, which came and is ending already, stays', () => {
  const ending = createIdentities(sessions, 'default');
  ending.hold('codex');
  createClosingMark(team, 'codex').set(soon());
  const watched = during(ending, 'close', (close) => {
    close();
    createClosingMark(team, 'codex').set(new Date(Date.now() + 20_000));
  });
  createClosingMark(team, 'codex').release(watched);
  expect(existsSync(mark)).toBe(true);
});

test('[FR-6.1] who tries for the identity while its last proxy lets go of it waits a little, and has it', async () => {
  const ending = createIdentities(sessions, 'default');
  ending.hold('codex');
  createClosingMark(team, 'codex').set(soon());
  const next = createIdentities(sessions, 'default');
  const tries: string[] = [];
  const trying = during(next, 'hold', (hold) => {
    try {
      hold();
      tries.push('has it');
    } catch (error) {
      tries.push('refused');
      // Between the refusal and what is made of it.
      createClosingMark(team, 'codex').release(ending);
      throw error;
    }
  });
  await createClosingMark(team, 'codex').holdWhenFree(trying, 'codex', log);
  expect(tries).toEqual(['refused', 'has it']);
  next.close();
});

test('[FR-6.1] an identity whose holder is not about to end is refused at once', async () => {
  const holder = createIdentities(sessions, 'default');
  holder.hold('codex');
  const next = createIdentities(sessions, 'default');
  await expect(createClosingMark(team, 'codex').holdWhenFree(next, 'codex', log)).rejects.toThrow(
    'is held by another process',
  );
  holder.close();
});
