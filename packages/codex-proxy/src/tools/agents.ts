import type { z } from 'zod';

import { invalidParams, proxyError } from '../errors.ts';
import type { MailCounts } from '../mail/mail-delivery.ts';
import { isActive } from '../registry/session-record.ts';
import type { Sessions } from '../session/sessions.ts';
import { unknownSession } from './codex.ts';
import type { CloseArguments } from './schemas.ts';

/** `agent_sessions`: what is active, and what can be taken up again. */
export function listSessions(
  sessions: Sessions,
  droppedEvents: (agentId: string) => number,
  mailCounts: (agentId: string) => MailCounts,
) {
  return {
    sessions: sessions.list().map((record) => ({
      agent_id: record.agent_id,
      backend: record.backend,
      backend_id: record.backend_id,
      team: record.team,
      identity: record.identity,
      agent_name: record.agent_name ?? null,
      agent_source: record.agent_source ?? null,
      role: record.role ?? null,
      status: record.status,
      cwd: record.cwd,
      repo_root: record.repo_root,
      repo_name: record.repo_name,
      branch: record.branch,
      started_at: record.started_at,
      last_active_at: record.last_active,
      tag: record.tag,
      resumable: !isActive(record) && record.backend_id !== null,
      dropped_events: droppedEvents(record.agent_id),
      auto_mail: record.auto_mail ?? null,
      mail: mailCounts(record.agent_id),
    })),
  };
}

/** `agent_close`: by session or by identity; one that is closed already is a success. */
export async function closeAgent(sessions: Sessions, args: z.output<typeof CloseArguments>) {
  const { agent_id, identity } = args;
  if ((agent_id === undefined) === (identity === undefined))
    throw invalidParams('one of agent_id and identity is needed');
  const record =
    agent_id === undefined
      ? (sessions
          .active()
          .find((session) => session.identity === identity)
          ?.record() ?? sessions.list().find((one) => one.identity === identity))
      : sessions.find(agent_id);
  if (record === undefined) {
    if (agent_id !== undefined) throw unknownSession(agent_id);
    throw proxyError('SESSION_NOT_FOUND', `No session has the identity '${identity}'`, { identity });
  }
  await sessions.live(record.agent_id)?.close('when_busy');
  if (record.status === 'stale') sessions.retire(record);
  await sessions.saved();
  const after = sessions.find(record.agent_id) ?? record;
  const summary = await sessions.summaryOf(after);
  return {
    agent_id: record.agent_id,
    identity: record.identity,
    status: isActive(after) ? 'closed' : after.status,
    summary: summary ?? null,
  };
}
