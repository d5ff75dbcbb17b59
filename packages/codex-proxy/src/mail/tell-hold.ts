import { clip } from '@parley/runtimes';

import type { Audit } from '../audit/open-audit.ts';
import type { Log } from '../logger.ts';
import type { Params } from '../wire/message.ts';
import type { Addressee } from './mail-delivery.ts';
import type { Hold } from './mail-budget.ts';

export interface TellHoldDeps {
  audit: Pick<Audit, 'noteEnd'>;
  notify: (method: string, params: Params) => void;
  /** Tells whoever watches the session beside its client. */
  tellOthers: (agentId: string, warning: string, facts: Record<string, unknown>) => void;
  newId: () => string;
  log: Log;
}

/** Puts each mail that is held on record once, and tells the client, and the hub, once for each sender that was stopped. */
export function createTellHold({
  audit,
  notify,
  tellOthers,
  newId,
  log,
}: TellHoldDeps): (session: Addressee, hold: Hold) => void {
  const recorded = new WeakMap<Hold, Set<string>>();

  return ({ identity, agentId }, hold) => {
    const known = recorded.get(hold);
    const ids = hold.message_ids.filter((id) => known?.has(id) !== true);
    if (ids.length === 0) return;
    recorded.set(hold, new Set([...(known ?? []), ...ids]));
    const who = hold.from === null ? 'all mail' : `mail of ${hold.from}`;
    const message = `${who} to ${identity} is held: it started ${hold.limit} turns within an hour; it stays unread until the client takes a turn in that session`;
    audit.noteEnd({
      event: 'mail_held',
      correlation_id: newId(),
      identity,
      agent_id: agentId,
      source: 'mail',
      status: hold.reason,
      summary: message,
      message_ids: ids,
    });
    if (known !== undefined) return;
    const { from, reason, limit } = hold;
    log('warn', 'mail is held', { agent_id: agentId, identity, from, reason, limit });
    const facts = { identity, agent_id: agentId, from, reason, limit, held: ids.length };
    tellOthers(agentId, message, { from: from && clip(from, 200), reason, limit, held: ids.length });
    notify('notifications/message', { level: 'warning', logger: 'mail', data: { message, ...facts } });
  };
}
