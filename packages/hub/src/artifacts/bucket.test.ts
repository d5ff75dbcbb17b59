import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test, vi } from 'vitest';

import { openBucket } from './bucket.ts';

test('a bucket that takes a request and never answers is given up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bucket-'));
  let isAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const server = createServer((request) => {
    request.resume();
    isAsked();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    vi.useRealTimers();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const credentials = join(folder, 'key.json');
  writeFileSync(credentials, JSON.stringify({ access_key_id: 'id', secret_access_key: 'secret' }), {
    mode: 0o600,
  });
  const path = join(folder, 'bytes');
  writeFileSync(path, 'x'.repeat(1_000));
  const bucket = openBucket(
    {
      service: 's3',
      region: 'r',
      bucket: 'b',
      credentials,
      // A server has an address once it listens.
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    } as Parameters<typeof openBucket>[0],
    Date.now,
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const kept = bucket.keep('w', { path, sha256: '0'.repeat(64), bytes: 1_000 });
  const refused = expect(kept).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('does not answer') as string,
  });
  await asked;
  vi.advanceTimersByTime(60_021);
  await refused;
}, 20_000);
