import { expect, test } from 'vitest';

import { parley, parleyJson, startHub } from './parley.ts';

test(
  'what is wrong with a line is told in the words of whoever typed it, and a range by both its ends',
  { timeout: 180_000 },
  async () => {
    const hub = await startHub();
    const env = { PARLEY_URL: hub.url };
    const data = ['--data', hub.data];
    const { thread_id } = await parleyJson<{ thread_id: string }>(['thread', 'new', 'x', ...data], { env });
    const cases: [string[], RegExp][] = [
      [['thread', 'new', 'x', '--with', 'a b'], /^parley: --with: must be 1 to 128 of/],
      [['thread', 'ls', '--limit', '0'], /--limit.* '0' .*whole number, 1 or more/],
      [['thread', 'summary', thread_id, '-n', '100000'], /whole number, from 1 to 10000/],
      [['thread', 'mute', thread_id, 'bob', '--for', '0s'], /0s is out of range; write 1s to 365d/],
      [['read', thread_id, '--limit', '0'], /whole number, 1 or more/],
      [['read', thread_id, '--since', '99999999999999999999'], /whole number, from 0 to 9007199254740991/],
      [['post', thread_id, 'hi', '--reply-to', '0'], /^parley: --reply-to names no message/],
      [['post', thread_id, 'hi', '--key', ''], /^parley: --key: must have at least 1 character/],
      [['post', thread_id, 'hi', '--as', 'a b'], /^parley: --as: must be 1 to 128 of/],
      [['quiet', 'bob', '--for', '100d'], /^parley: 100d is out of range; write 1s to 30d/],
      [['agent', 'type', 'bob', 'hi', '--for', '1h'], /^parley: 1h is out of range; write 1s to 10m/],
      [['slo', '--hours', '500'], /whole number, from 1 to 168/],
      [['usage', '--days', '0'], /whole number, from 1 to 3660/],
      [['know', 'cat', ''], /^parley: name a document: a title, a path/],
      [['know', 'put', 'x', '--tags', 't'.repeat(300)], /^parley: --tags: is longer than 100 bytes/],
      [['know', 'import', '/is/not/there'], /^parley: \/is\/not\/there is not there/],
      [['import', '/is/not/there'], /^parley: \/is\/not\/there is not there/],
      [['--config', '/', 'status'], /^parley: \/ is a folder, where a file is needed/],
      [['token', 'issue', '--agent', 'a', '--role', 'king'], /^parley: --role: must be one of operator/],
      [['serve', '--port', '99999'], /configuration: port: must be 0 to 65535; 99999 was given/],
      [['serve', '--set', 'quota.nope=1'], /configuration: there is no setting quota\.nope/],
      [['serve', '--set', 'foo'], /^parley: --set foo: write key=value/],
    ];
    for (const [args, words] of cases) {
      const other = args[0] === 'serve' ? ['--data', `${hub.data}-other`] : data;
      const { code, stdout, stderr } = await parley([...args, ...other], { env });
      expect([args, code === 0, stdout]).toEqual([args, false, '']);
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/ENOENT|EISDIR|Too (?:small|big)|Invalid input|Unrecognized|undefined/);
    }
    // For programs the field keeps the name that it has on the wire.
    const told = await parley(['post', thread_id, 'hi', '--key', '', '--json', ...data], { env });
    expect(JSON.parse(told.stdout)).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/^idempotency_key: /) as unknown },
    });
  },
);
