import type { Ask, AskContent, AskStatus, AskVerdict } from '@parley/protocol';

import { type Entry, factsOf } from '../entry.ts';
import type { PutRecord } from '../records.ts';

interface Raised {
  ask_id: string;
  expires_at: string;
  ask: AskContent;
}

interface Settled {
  status: AskStatus;
  verdict?: AskVerdict;
  resolved_at?: string;
}

/** The name of the ask that an entry tells of; undefined for all other entries. */
export function askOf({ type, metadata }: Entry): string | undefined {
  return type.startsWith('ask.') ? factsOf<{ ask_id: string }>({ metadata }).ask_id : undefined;
}

/** The ask after one more entry of its own. Replaying them all gives the live one again. */
export function evolveAsk(workspace_id: string, ask: Ask | undefined, entry: Entry): Ask {
  if (ask === undefined) return raised(workspace_id, entry);
  const { status, verdict, resolved_at } = factsOf<Settled>(entry);
  return {
    ...ask,
    status,
    ...(verdict === undefined ? {} : { verdict }),
    ...(resolved_at === undefined ? {} : { resolved_at }),
  };
}

function raised(workspace_id: string, entry: Entry): Ask {
  const { ask_id, expires_at, ask } = factsOf<Raised>(entry);
  return {
    ask_id,
    workspace_id,
    agent_id: entry.sender_agent_id,
    session_id: entry.sender_session_id,
    thread_id: entry.thread_id,
    message_id: entry.message_id,
    ...ask,
    status: 'open',
    created_at: entry.created_at,
    expires_at,
  };
}

/** An ask as it is kept. */
export function putAsk(value: Ask): PutRecord {
  const { workspace_id, ask_id: key, status: mark, agent_id: owner } = value;
  return { kind: 'ask', workspace_id, key, mark, owner, value };
}
