import { LEAD, type TeamMail, sameInbox } from '@parley/mail';
import { ParleyError } from '@parley/protocol';

import type { Settings } from '../config/schema.ts';
import { proxyError, RPC, RpcError } from '../errors.ts';
import { SESSION_TYPE } from '../mail/membership.ts';

/** Whose the names of a team are. */
export interface TeamNames {
  /** Throws IDENTITY_CONFLICT unless the name is nobody's, or a session's of this program that may have ended. */
  check(identity: string): Promise<void>;
}

/** No session takes the name of a living teammate, of the lead or of the client. What counts is who is a member now. */
export function createTeamNames(
  mail: Pick<TeamMail, 'members'>,
  { team, client_identity }: Pick<Settings, 'team' | 'client_identity'>,
): TeamNames {
  const members = async () => {
    try {
      return await mail.members();
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      if (error.code === 'NOT_FOUND') return [];
      throw new RpcError(RPC.internal, `Nobody knows whose a name is: ${error.message}`, {
        error_source: 'proxy',
        error_name: 'TEAM_UNREADABLE',
        team,
      });
    }
  };

  return {
    async check(identity) {
      const conflict = (why: string): Error =>
        proxyError('IDENTITY_CONFLICT', `Identity conflict: '${identity}' is ${why}; take another name`, {
          identity,
          team,
          conflicting_agent_id: null,
        });
      if (sameInbox(identity, LEAD)) throw conflict(`the name of the lead`);
      if (client_identity !== null && sameInbox(identity, client_identity))
        throw conflict(`the client's own name`);
      for (const member of await members()) {
        if (!sameInbox(member.name, identity)) continue;
        if (member.is_lead) throw conflict(`the name of the lead of team '${team}'`);
        const isOurs = member.is_ours && member.agent_type === SESSION_TYPE;
        if (!isOurs || member.name !== identity)
          throw conflict(
            `the name of a member of team '${team}'${member.name === identity ? '' : `, '${member.name}'`}`,
          );
      }
    },
  };
}
