import { asError } from '@parley/protocol';
import type { TurnResult } from '@parley/runtimes';

import type { Audit } from '../audit/open-audit.ts';
import type { EndedTurn, StartedTurn } from '../session-observer.ts';

export interface AuditedTurnDeps {
  audit: Pick<Audit, 'note' | 'noteEnd'>;
  turnStarted: (turn: StartedTurn) => void;
  turnEnded: (turn: EndedTurn) => void;
}

/** Whose turn it is, and what it is about. */
interface TurnFacts extends StartedTurn {
  agentId: string;
  identity: string;
  messageIds: readonly string[] | undefined;
}

/** Runs a turn on record: its line before anything is done, its end under the same correlation id. `stop` tells why it was stopped. */
export async function auditedTurn(
  { audit, turnStarted, turnEnded }: AuditedTurnDeps,
  { agentId, identity, source, prompt, messageIds }: TurnFacts,
  stop: () => EndedTurn['stop'],
  run: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const facts = { source, agent_id: agentId, identity };
  const mails = messageIds === undefined ? {} : { message_ids: messageIds };
  const correlation_id = audit.note({ event: 'turn', ...facts, summary: prompt, ...mails });
  turnStarted({ source, prompt });
  const over = { event: 'turn_end', ...facts, correlation_id } as const;
  try {
    const end = await run();
    audit.noteEnd({ ...over, status: end.status, duration_ms: end.durationMs });
    turnEnded({ end, stop: end.status === 'completed' ? undefined : stop() });
    return end;
  } catch (error) {
    audit.noteEnd({ ...over, status: 'refused' });
    turnEnded({ end: asError(error), stop: stop() });
    throw error;
  }
}
