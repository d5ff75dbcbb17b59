import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import { mcpModernDriver } from '../harness/mcp-drivers.ts';
import { openStream } from '../harness/open-stream.ts';
import { checkStored } from '../harness/oracle.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

/** How long each fsync of the hub takes to return: time enough to end it in between. */
const DELAY_US = 20_000_000;

describeWith(['strace'], 'between the disk and the answer', ({ strace }) => {
  test('[HUB-R3] [C-HUB-33] a message is seen only once durable, and a retry after a crash finds it once', async () => {
    const data = freshFolder();
    const hub = await startHub({ data });
    const signer = await registerSigner('test-key', { data });
    const token = signer.token({ agent: 'alice' });
    const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
    const wal = join(data, 'parley.db-wal');
    const lastWritten = (): bigint => statSync(wal, { bigint: true }).mtimeNs;
    const warmUp = { thread_id, schema_version: 1, body: 'the log is in use' };
    succeeded(await v1Driver.call(hub.url, token, 'post_message', warmUp));
    // The search index is written while nobody posts; wait until it has come to rest.
    await expect
      .poll(
        async () =>
          succeeded(await v1Driver.call(hub.url, token, 'search_messages', { query: 'x' })).complete,
      )
      .toBe(true);
    const stream = await openStream(hub.url, token, thread_id);
    await expect.poll(() => stream.messages()).toHaveLength(1);
    let waiting = true;
    const waited = mcpModernDriver
      .call(hub.url, token, 'wait_for_messages', { thread_id, since_seq: 1, timeout_ms: 60_000 })
      .catch(() => {})
      .finally(() => (waiting = false));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = lastWritten();

    const inject = `inject=fsync,fdatasync:delay_exit=${DELAY_US}`;
    const tracer = spawn(strace, [
      '-f',
      '-o',
      '/dev/null',
      '-p',
      String(hub.pid),
      '-e',
      'trace=fsync,fdatasync',
      '-e',
      inject,
    ]);
    let said = '';
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await vi.waitFor(() => expect(said).toContain('attached'), 10_000);

    const post = { thread_id, schema_version: 1, body: 'in between', idempotency_key: 'k' };
    const answer = v1Driver.call(hub.url, token, 'post_message', post).then(
      () => 'answered',
      () => 'no answer',
    );
    await vi.waitFor(() => expect(lastWritten()).toBeGreaterThan(before), 10_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const face of faces) {
      const seen = succeeded(await face.call(hub.url, token, 'read_messages', { thread_id }));
      expect(seen.messages.map(({ seq }) => seq)).toEqual([1]);
    }
    expect([stream.messages().map(({ seq }) => seq), waiting]).toEqual([[1], true]);
    // The dead hub is only let go by its tracer.
    const dying = hub.kill();
    tracer.kill('SIGKILL');
    await dying;
    expect(await answer).toBe('no answer');
    await waited;

    const again = await startHub({ data });
    const found = succeeded(await v1Driver.call(again.url, token, 'read_messages', { thread_id }));
    expect(found.messages.map(({ body }) => body)).toEqual(['the log is in use', 'in between']);
    const retry = succeeded(await v1Driver.call(again.url, token, 'post_message', post));
    expect(retry).toMatchObject({ seq: 2, message_id: found.messages[1]?.message_id });
    expect(succeeded(await v1Driver.call(again.url, token, 'get_thread', { thread_id })).last_seq).toBe(2);
    expect(await again.stop()).toBe(0);
    await checkStored(data);
  });
});
