import { expect, test } from 'vitest';

import { SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_PROTOCOL } from './sqlite.ts';
import { failed, isBusy, isOfDisk, refusal } from './storage-fault.ts';

const SQLITE_CORRUPT = 11;

/** What SQLite throws; the upper bits tell more of the same fault. */
function fault(code: number): Error {
  return Object.assign(new Error(`fault ${code}`), { errcode: code | (3 << 8) });
}

test('[R8] a full disk and a foreign lock pass, and the caller is told when to come again', () => {
  for (const [code, why] of [
    [SQLITE_FULL, 'the disk is full'],
    [SQLITE_BUSY, 'another program holds the database'],
    [SQLITE_PROTOCOL, 'another program holds the database'],
  ] as const)
    expect(refusal(fault(code))).toEqual({
      error: {
        code: 'UNAVAILABLE',
        message: `${why}; nothing was written`,
        details: { retry_after_ms: 1_000 },
      },
      fault: `fault ${code}`,
      severity: 'passing',
    });
});

test('[R8] any other fault ends all writing, and its words are for the log alone', () => {
  for (const [error, text] of [
    [fault(SQLITE_IOERR), `fault ${SQLITE_IOERR}`],
    [new Error('none of SQLite'), 'none of SQLite'],
    ['no error at all', 'no error at all'],
  ] as const) {
    expect(refusal(error)).toEqual(failed(text));
    expect(refusal(error)).toMatchObject({
      error: { code: 'UNAVAILABLE' },
      fault: text,
      severity: 'fatal',
    });
    expect(refusal(error).error?.message).not.toContain(text);
  }
});

test('what SQLite says of the disk is told apart from what it says of the data', () => {
  const facts = (error: unknown) => [isBusy(error), isOfDisk(error)];
  expect(facts(fault(SQLITE_BUSY))).toEqual([true, true]);
  expect(facts(fault(SQLITE_PROTOCOL))).toEqual([true, true]);
  expect(facts(fault(SQLITE_FULL))).toEqual([false, true]);
  expect(facts(fault(SQLITE_IOERR))).toEqual([false, true]);
  expect(facts(fault(SQLITE_CORRUPT))).toEqual([false, false]);
  // Of what is not SQLite's nobody knows whether the disk is to blame.
  expect(facts(new Error('none of SQLite'))).toEqual([false, true]);
});
