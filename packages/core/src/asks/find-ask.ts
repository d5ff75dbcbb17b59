import { type Ask, type Caller, ParleyError } from '@parley/protocol';

import type { AskPorts, RecordPorts } from '../ports.ts';
import { mayOverride } from '../threads/status.ts';

/** The ask as it stands, for those who may see it; for the others there is none. */
export async function findAsk(deps: RecordPorts & AskPorts, caller: Caller, askId: string): Promise<Ask> {
  const [ask] = await deps.store.records({
    kind: 'ask',
    workspace_id: caller.workspace_id,
    prefix: askId,
    limit: 1,
  });
  if (ask?.ask_id !== askId || !(seesAll(caller) || ask.agent_id === caller.agent_id))
    throw new ParleyError('NOT_FOUND', 'no such ask');
  return deps.asks.settle(ask);
}

/** Workers see their own asks alone. */
export function seesAll(caller: Caller): boolean {
  return mayOverride(caller) || caller.role === 'observer';
}
