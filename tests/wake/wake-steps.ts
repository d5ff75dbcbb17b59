import type { OutputOf } from '@parley/protocol';

import type { Scene } from '../harness/use-hub.ts';

/** What the journal of an agent tells of one wake, step by step. */
export async function journalSteps(scene: Scene, agent: string, trigger?: string): Promise<unknown[]> {
  return (await journalOf(scene, agent))
    .filter(({ metadata }) => trigger === undefined || metadata?.['trigger_id'] === trigger)
    .map(({ metadata }) => metadata?.['step']);
}

/** All that the journal of an agent tells of wakes. */
export async function journalOf(scene: Scene, agent: string) {
  const ann = scene.as('ann', { role: 'operator' });
  const { journal_thread_id } = await ann.ok('get_agent', { of_agent: agent });
  if (journal_thread_id === null) return [];
  const { messages } = await ann.ok('read_messages', { thread_id: journal_thread_id, limit: 200 });
  return messages.filter(({ metadata }) => metadata?.['trigger_id'] !== undefined);
}

/** The wakes on record for the message at a seq. */
export async function wokenFor(
  scene: Scene,
  thread_id: string,
  seq: number,
): Promise<OutputOf<'get_message_evidence'>['woken']> {
  const ann = scene.as('ann', { role: 'operator' });
  const { messages } = await ann.ok('read_messages', { thread_id, since_seq: seq - 1, limit: 1 });
  const message_id = messages[0]?.message_id ?? '';
  return (await ann.ok('get_message_evidence', { thread_id, message_id })).woken;
}
