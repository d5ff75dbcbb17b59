import { expect, test } from 'vitest';

import { openChild } from './child.ts';

const SECRET = 'Kq7Zp4Wm9Xt2Lb8NvR3cJ6hY1sD5fG0aE';

/** What is told of a program that writes these pieces to its stderr, one after the other. */
async function saidBy(pieces: readonly string[]): Promise<string> {
  const script = `
    const pieces = ${JSON.stringify(pieces)};
    const next = () => pieces.length === 0 ? process.exit(1) : process.stderr.write(pieces.shift(), () => setTimeout(next, 50));
    next();`;
  return new Promise((resolve, reject) => {
    openChild({
      command: process.execPath,
      args: ['-e', script],
      env: { PATH: process.env['PATH'] ?? '' },
      cwd: '/',
      maxLineBytes: 1_000,
      maxBacklogBytes: 1_000,
      onLine: () => {},
      onOversized: () => {},
      onExit: ({ stderr }) => resolve(stderr),
    }).catch(reject);
  });
}

test('a secret that two reads have cut is hidden', async () => {
  expect(await saidBy(['the key is sk-Kq7Z', `${SECRET} here\n`])).toBe('the key is [redacted] here\n');
  const pem = ['-----BEGIN PRIVATE KEY-----\nMIIEvQ\nMII', `${SECRET}\n-----END PRIV`, 'ATE KEY-----\nend\n'];
  expect(await saidBy(pem)).toBe('[redacted]\nend\n');
});

test('of much only the end is kept, and no half of a secret is its beginning', async () => {
  const kept = 32_768;
  const pem = (length: number): string =>
    `-----BEGIN PRIVATE KEY-----\n${`${'A'.repeat(63)}\n`.repeat(Math.floor(length / 64))}-----END PRIVATE KEY-----\n`;
  const block = pem(kept - 100);
  const filler = 'x'.repeat(kept - block.length - 12);
  for (const end of ['\n', ' ']) {
    const publicText = await saidBy([`the key is sk-${SECRET}${end}${filler}\n${block}`]);
    expect(publicText).toContain('[redacted]');
    for (let n = 0; n + 8 <= SECRET.length; n++) expect(publicText).not.toContain(SECRET.slice(n, n + 8));
  }
});
