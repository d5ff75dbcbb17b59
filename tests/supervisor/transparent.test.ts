import { expect, test } from 'vitest';
import { freshPath } from '../cli/parley.ts';
import { sitDown, supervised } from './person.ts';

test('bash works as without it', async () => {
  const person = await sitDown(supervised(['bash', '--norc', '-i'], ['--data', freshPath()]));
  await person.sees('no hub runs on');
  await person.sees('$');
  person.type('echo hello $((1+2))\r');
  await person.sees('hello 3');
  person.type('exit 7\r');
  expect(await person.exited).toEqual({ code: 7, signal: null });
});
