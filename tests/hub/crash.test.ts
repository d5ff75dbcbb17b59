import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { v1Driver } from '../harness/call.ts';
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
    const seen = succeeded(await v1Driver.call(hub.url, token, 'read_messages', { thread_id }));
    expect(seen.messages.map(({ seq }) => seq)).toEqual([1]);
    // The dead hub is only let go by its tracer.
    const dying = hub.kill();
    tracer.kill('SIGKILL');
    await dying;
    expect(await answer).toBe('no answer');

    const again = await startHub({ data });
    const found = succeeded(await v1Driver.call(again.url, token, 'read_messages', { thread_id }));
    expect(found.messages.map(({ body }) => body)).toEqual(['the log is in use', 'in between']);
    const retry = succeeded(await v1Driver.call(again.url, token, 'post_message', post));
    expect(retry).toMatchObject({ seq: 2, message_id: found.messages[1]?.message_id });
    expect(succeeded(await v1Driver.call(again.url, token, 'get_thread', { thread_id })).last_seq).toBe(2);
    expect(await again.stop()).toBe(0);
    checkStored(data);
  });
});
