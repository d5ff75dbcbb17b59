import { ParleyError } from '@parley/protocol';

import { standingEntry } from '../agents/journal.ts';
import type {
  ForgetNonces,
  NoteAlias,
  NoteDeprecation,
  NoteRead,
  ReportHealth,
  Rule,
  UseNonce,
} from '../commands.ts';
import { readerOf } from '../knowledge/change.ts';
import { checkOrder, orderNeeds } from './order.ts';

const noteRead: Rule<NoteRead> = {
  needs: (command) => ({ records: true, gets: orderNeeds(command) }),
  decide(loaded, command) {
    if (command.answer !== undefined) return { changes: [], result: command.answer };
    const { ignored, note } = checkOrder(readerOf(loaded), command);
    return { changes: [], records: note, result: ignored ?? {} };
  },
};

const useNonce: Rule<UseNonce> = {
  needs: ({ input }) => ({ records: true, gets: [{ kind: 'nonce', key: nonceKey(input) }] }),
  decide(loaded, { caller, input, now }) {
    const { kid, until } = input;
    const key = nonceKey(input);
    const used = readerOf(loaded).get('nonce', key);
    if (used !== undefined && used.until > now)
      throw new ParleyError('UNAUTHORIZED', 'this nonce was used before');
    const { workspace_id } = caller;
    const value = { workspace_id, key, until };
    const put = { kind: 'nonce', workspace_id, key, mark: 'used', owner: kid, value } as const;
    return { changes: [], records: [put], result: {} };
  },
};

function nonceKey({ kid, nonce }: UseNonce['input']): string {
  return `${kid} ${nonce}`;
}

const forgetNonces: Rule<ForgetNonces> = {
  needs: ({ input }) => ({ records: true, gets: input.keys.map((key) => ({ kind: 'nonce', key })) }),
  decide(loaded, { caller, now, input }) {
    const { workspace_id } = caller;
    const records = readerOf(loaded);
    const drops = input.keys
      .filter((key) => (records.get('nonce', key)?.until ?? now) <= now)
      .map((key) => ({ kind: 'nonce', workspace_id, key }) as const);
    return { changes: [], drops, result: { forgotten: drops.length } };
  },
};

const noteAlias: Rule<NoteAlias> = {
  needs: ({ thread_id, input }) => ({
    thread: thread_id,
    records: true,
    gets: [{ kind: 'alias', key: input.alias }],
  }),
  decide(loaded, command) {
    const { alias, role } = command.input;
    const { workspace_id } = command.caller;
    const quarter = quarterOf(command.now);
    if (readerOf(loaded).get('alias', alias)?.quarter === quarter)
      return { changes: [], result: { quarter } };
    const { change } = standingEntry(
      loaded.located,
      command,
      'the tree of documents',
      { tree: true },
      {
        type: 'deprecation',
        kind: 'event',
        body: `the role ${alias} is an old name of ${role}; it goes on to work`,
        metadata: { event_type: 'role_alias.deprecation', alias, role, quarter },
      },
    );
    const put = { kind: 'alias', workspace_id, key: alias, mark: quarter, owner: alias } as const;
    return { changes: [change], records: [{ ...put, value: { alias, quarter } }], result: { quarter } };
  },
};

/** Nobody loses an action within fewer days than these after being told. */
const NOTICE_MS = 30 * 86_400_000;

const noteDeprecation: Rule<NoteDeprecation> = {
  needs: ({ thread_id, input }) => ({
    thread: thread_id,
    records: true,
    gets: [{ kind: 'alias', key: `action ${input.action}` }],
  }),
  decide(loaded, command) {
    const { action, version, ends_at: wished, use } = command.input;
    const { workspace_id } = command.caller;
    const quarter = quarterOf(command.now);
    const key = `action ${action}`;
    const known = readerOf(loaded).get('alias', key);
    const announced_at = known?.announced_at ?? new Date(command.now).toISOString();
    const earliest = Date.parse(announced_at) + NOTICE_MS;
    const ends_at = new Date(Math.max(Date.parse(wished), earliest)).toISOString();
    const result = { announced_at, ends_at };
    if (known?.quarter === quarter) return { changes: [], result };
    const instead = use === undefined ? '' : `; use ${use}`;
    const { change } = standingEntry(
      loaded.located,
      command,
      'the tree of documents',
      { tree: true },
      {
        type: 'deprecation',
        kind: 'event',
        body: `${action} ${version} ends on ${ends_at.slice(0, 10)}${instead}`,
        metadata: { event_type: 'action.deprecation', action, version, ...result, ...(use ? { use } : {}) },
      },
    );
    const value = { alias: key, quarter, announced_at };
    const put = { kind: 'alias', workspace_id, key, mark: quarter, owner: action, value } as const;
    return { changes: [change], records: [put], result };
  },
};

const reportHealth: Rule<ReportHealth> = {
  needs: (command) => ({
    records: true,
    gets: [...orderNeeds(command), { kind: 'service', key: command.caller.agent_id }],
  }),
  decide(loaded, command) {
    const { agent_id: service_id, workspace_id } = command.caller;
    const records = readerOf(loaded);
    const { ignored, note } = checkOrder(records, command);
    if (ignored !== undefined) return { changes: [], result: ignored };
    const known = records.get('service', service_id);
    const last_seen_at = new Date(command.now).toISOString();
    const { status: reported, note: said } = command.input;
    const revision = (known?.revision ?? 0) + 1;
    const value = {
      service_id,
      reported,
      ...(said === undefined ? {} : { note: said }),
      since: known?.reported === reported ? known.since : last_seen_at,
      last_seen_at,
      revision,
    };
    const put = {
      kind: 'service',
      workspace_id,
      key: service_id,
      mark: reported,
      owner: service_id,
    } as const;
    return { changes: [], records: [{ ...put, value }, ...note], result: { last_seen_at, revision } };
  },
};

export const envelopeRules = {
  note_read: noteRead,
  use_nonce: useNonce,
  forget_nonces: forgetNonces,
  note_alias: noteAlias,
  note_deprecation: noteDeprecation,
  report_health: reportHealth,
};

/** Such as 2026-Q4. */
export function quarterOf(now: number): string {
  const at = new Date(now);
  return `${at.getUTCFullYear()}-Q${Math.floor(at.getUTCMonth() / 3) + 1}`;
}
