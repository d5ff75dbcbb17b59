import { join } from 'node:path';

import { sqliteModule } from '@parley/sqlite';
import { DATABASE_FILE } from '@parley/store-sqlite';
import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { refused, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { bad, envelopeOf, good, newPage, sendEnvelope } from './envelope-client.ts';

const scene = useHub({ settings: WITHOUT_MODEL });

/** Somebody else holds the database for so long: whatever is to be written waits. */
async function locked<T>(ms: number, run: () => Promise<T>): Promise<T> {
  const db = new (sqliteModule().DatabaseSync)(join(scene.hub.data, DATABASE_FILE));
  try {
    db.exec('BEGIN IMMEDIATE');
    const running = run();
    await new Promise((resolve) => setTimeout(resolve, ms));
    db.exec('ROLLBACK');
    return await running;
  } finally {
    db.close();
  }
}

test('what waits for the writer beyond its time is refused, and nothing of it is written', async () => {
  const ed = scene.as('ed', { role: 'orchestrator', workspace: 'w1' });
  const worker = scene.as('builder', { workspace: 'w1' });
  const ann = scene.as('ann', { role: 'operator', workspace: 'w1' });
  const [page, later, patient] = [newPage(), newPage(), newPage()];
  const create = (args: object, ttl_sec: number, headers = {}) => {
    const envelope = envelopeOf('knowledge.create_document', { ...args }, { ttl_sec });
    return sendEnvelope(scene.hub.url, ed.token, envelope, { headers });
  };
  good(await create(newPage(), 60));
  const { ask } = await worker.ok('raise_ask', { prompt: 'May I?', expires_in_ms: 1_500 });
  const { ask_id } = ask;
  const [atOnce, queued, read, inTime, answer] = await locked(2_300, () =>
    Promise.all([
      create(page, 1),
      create(later, 1, { prefer: 'respond-async' }),
      sendEnvelope(scene.hub.url, ed.token, envelopeOf('knowledge.list_documents', {}, { ttl_sec: 1 })),
      create(patient, 60),
      v1Driver.call(scene.hub.url, ann.token, 'answer_ask', { ask_id, decision: 'approved' }),
    ]),
  );
  for (const one of [atOnce, queued, read]) bad(one, 'EXPIRED');
  good(inTime);
  for (const { document_id } of [page, later]) await ed.refused('get_document', { document_id }, 'NOT_FOUND');
  await ed.ok('get_document', { document_id: patient.document_id });
  expect((await ed.ok('list_deliveries', {})).deliveries).toEqual([]);
  // The person's yes left in time and came too late: nobody may act on it.
  const { details } = refused(answer, 'CONFLICT');
  expect(details['ask']).toMatchObject({ verdict: { decision: 'denied', by: 'parley' } });
});
