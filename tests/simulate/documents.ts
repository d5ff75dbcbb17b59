import type { Caller } from '@parley/protocol';

import type { Hands } from './hands.ts';
import { tokenOf } from './history.ts';
import type { Doing, Step } from './script.ts';

type Of<Kind extends Doing['kind']> = Step & (Doing & { kind: Kind });

/** A dead letter that was tried again this long ago at most is nobody's to forget. */
const FRESH_MS = 30_000;
const LETTERS = 3;
const GROWN_OLD_MS = 150_000;

/** What is done with documents and the queue; the second actor does it. */
export function createDocumentDoings(hands: Hands) {
  const { time, way, history, callerOf, knownIn, some, wait, attempt, insist, write, begin } = hands;
  let orders = 0;

  async function create(step: Of<'create_document'>): Promise<void> {
    const { workspace_id } = callerOf(step.workspace, 1);
    const input = newDocument(step.n, tokenOf(workspace_id, step.n));
    const made = await write({ ...step, who: 1 }, 'document.created', 'create_document', input, 60_000);
    if (made !== undefined) knownIn(step.workspace).documents.push(documentId(step.n));
  }

  async function move(step: Of<'move_document'>): Promise<void> {
    const { documents } = knownIn(step.workspace);
    const document_id = some(documents, step.document);
    const new_parent_id = some(['root', ...documents], step.under);
    if (document_id === undefined || new_parent_id === undefined) return;
    const input = { document_id, new_parent_id, idempotency_key: `key-${step.n}` };
    await insist(() => attempt(callerOf(step.workspace, 1), 'move_document', input));
  }

  /** Changes what was read a moment ago, or long ago: nobody writes over what it has not seen. */
  async function revise(step: Of<'revise'>): Promise<void> {
    const who = callerOf(step.workspace, 1);
    const document_id = some(knownIn(step.workspace).documents, step.document);
    if (document_id === undefined) return;
    const seen = await insist(() => attempt(who, 'get_document', { document_id }));
    if ('refusal' in seen) return;
    const last_known_revision = Math.max(1, seen.answer.document.revision - step.stale);
    const common = { document_id, last_known_revision, idempotency_key: `key-${step.n}` };
    const found = await insist(() =>
      step.way === 'revert'
        ? attempt(who, 'revert_document', { ...common, revision: 1 })
        : attempt(who, 'update_document', { ...common, ...titled(`step ${step.n}`) }),
    );
    if ('answer' in found && found.answer.revision !== last_known_revision + 1)
      history.isBroken(
        'nobody writes over what it has not seen',
        `${document_id}: ${step.way} of revision ${last_known_revision} became ${found.answer.revision}`,
      );
  }

  async function send(
    caller: Caller,
    action: 'knowledge.create_document' | 'knowledge.update_document',
    args: Record<string, unknown>,
    { lastsMs, key: idempotency_key }: { lastsMs: number; key: string },
  ) {
    const order = { context_id: `order-${++orders}`, seq: 1 };
    const posted = { caller, action, args, order, expiresAt: time.now() + lastsMs, idempotency_key };
    return insist(async () => {
      const node = await way.up();
      return way.answer(node, node.deliveryQueue.accept(posted));
    });
  }

  async function deliver(step: Of<'deliver'>): Promise<void> {
    const who = callerOf(step.workspace, 1);
    const token = tokenOf(who.workspace_id, step.n);
    const document_id = some(knownIn(step.workspace).documents, step.document);
    if (step.action === 'update' && document_id === undefined) return;
    const request = begin(who, step.n, step.action === 'create' ? 'document.created' : 'document.updated');
    const args = step.action === 'create' ? newDocument(step.n, token) : { ...titled(token), document_id };
    const action = step.action === 'create' ? 'knowledge.create_document' : 'knowledge.update_document';
    const found = await send(who, action, args, { lastsMs: step.lastsMs, key: `key-${step.n}` });
    if ('answer' in found && 'delivery_id' in found.answer) request.delivery_id = found.answer.delivery_id;
    else request.state = 'refused';
  }

  /** Sends what cannot be carried out, and has it tried again in the very moment in which old letters are forgotten. */
  async function redrive(step: Of<'redrive'>): Promise<void> {
    const who = callerOf(step.workspace, 1);
    const args = { ...titled(`step ${step.n}`), document_id: documentId(step.n + 1e6) };
    for (let i = 0; i < LETTERS; i++)
      await send(who, 'knowledge.update_document', args, { lastsMs: 3e6, key: `dead-${step.n}-${i}` });
    await wait(GROWN_OLD_MS);
    const dead = await insist(() => attempt(who, 'list_deliveries', { status: 'dead', limit: 50 }));
    const ids = 'answer' in dead ? dead.answer.deliveries.map(({ delivery_id }) => delivery_id) : [];
    const node = await way.up();
    // What the disk refuses is the hub's to try again.
    node.deliveryQueue.sweep().catch(() => {});
    await Promise.all(ids.map((id, i) => redriveOne(step, id, (step.afterMs + i) % 8)));
  }

  async function redriveOne(step: Of<'redrive'>, delivery_id: string, afterMs: number): Promise<void> {
    const who = callerOf(step.workspace, 1);
    const at = time.monotonic();
    await wait(afterMs);
    const input = { delivery_ids: [delivery_id], idempotency_key: `key-${step.n}` };
    const found = await insist(() => attempt(who, 'redrive_deliveries', input));
    if ('refusal' in found || found.answer.deliveries[0]?.redriven !== true) return;
    const kept = await insist(() => attempt(who, 'get_delivery', { delivery_id }));
    if ('refusal' in kept && time.monotonic() - at < FRESH_MS)
      history.isBroken('what is tried again is on record', `${delivery_id}: ${kept.refusal.message}`);
  }

  return { create, move, revise, deliver, redrive };
}

const titled = (title: string) => ({ patch: { metadata: { title } }, update_mask: ['metadata.title'] });

function documentId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** A document as a step makes it. */
export function newDocument(n: number, title: string) {
  const content = { mime_type: 'text/markdown', body: 'words' } as const;
  return { document_id: documentId(n), parent_id: 'root', content, metadata: { title } };
}
