import { randomUUID } from 'node:crypto';

import { expect, vi } from 'vitest';

import { envelopeOf, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { type Desk, PATIENCE_MS, PERSON } from './desk.ts';

/** Has a document accepted under a parent that is not there; answers once it was given up. */
export async function deadLetter(desk: Desk, parent_id: string, more = {}): Promise<string> {
  const session = `ed-${randomUUID().slice(0, 8)}`;
  const token = desk.signer.token({ agent: 'ed', workspace: 'w1', role: 'orchestrator', session });
  const person = desk.agent(PERSON, 'operator');
  // On a busy machine one that has little time may be late at the door already.
  const delivery_id = await vi.waitFor(async () => {
    const envelope = envelopeOf('knowledge.create_document', newPage({ parent_id }), more);
    const headers = { prefer: 'respond-async' };
    const { body } = await sendEnvelope(desk.hub.url, token, envelope, { headers });
    expect(body).toMatchObject({ ok: true });
    return String(body.data?.['delivery_id']);
  }, PATIENCE_MS);
  await vi.waitFor(
    async () => expect((await person.get_delivery({ delivery_id })).delivery.status).toBe('dead'),
    PATIENCE_MS,
  );
  return delivery_id;
}
