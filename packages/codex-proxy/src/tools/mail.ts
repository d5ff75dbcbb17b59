import { ParleyError, fieldsOf } from '@parley/protocol';

import { auditedCall } from '../audit/audited-call.ts';
import type { Settings } from '../config/schema.ts';
import { invalidParams, proxyError } from '../errors.ts';
import type { Identities } from '../identity/identities.ts';
import { CLIENT_MAIL_TOOLS, type MailToolDeps } from '../mail/mail-tools.ts';
import { issueOf } from '../mail/run-mail-tool.ts';
import { failed, reported, type ToolResult } from '../tool-result.ts';

export interface ClientMailDeps extends MailToolDeps {
  identities: Identities;
  settings: Settings;
}

/** True for a tool of team mail. */
export function isMailTool(name: unknown): boolean {
  return CLIENT_MAIL_TOOLS.some((tool) => tool.name === name);
}

/** A mail tool that the client of the proxy calls: outside of any session it must say for whom. */
export async function callMailTool(deps: ClientMailDeps, name: string, args: unknown): Promise<ToolResult> {
  const { identity: named } = fieldsOf(args);
  const call = { tool: name, identity: named, agentId: null };
  try {
    const done = await auditedCall(deps.audit, call, async (note) => {
      const tool = CLIENT_MAIL_TOOLS.find((one) => one.name === name);
      const parsed = tool?.input.safeParse(args);
      if (tool === undefined || parsed === undefined) throw invalidParams(`Unknown tool: ${name}`);
      if (!parsed.success) throw invalidParams(`Invalid arguments: ${issueOf(parsed.error, args)}`);
      // Every tool for clients takes it, beside what is its own.
      const { identity, ...rest } = parsed.data as { identity?: string };
      if (identity === undefined)
        throw proxyError(
          'IDENTITY_REQUIRED',
          `${name} is called outside of a session: say for which identity`,
        );
      await checkHolder(deps, identity, tool.acts(rest));
      note({ ...tool.note(rest), agent_id: deps.identities.agentOf(identity) ?? null });
      return tool.run(deps.mail, identity, rest);
    });
    return reported(done);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    if (error.code === 'VALIDATION_ERROR') throw invalidParams(error.message);
    return failed(error.code, error.message);
  }
}

/** Whoever looks takes nothing away; to speak, and to mark mail as read, is for those whose name it is. */
async function checkHolder(
  { identities, names, settings }: ClientMailDeps,
  identity: string,
  acts: boolean,
): Promise<void> {
  if (identities.holds(identity)) return names.check(identity);
  if (!acts) return;
  if (identity === settings.client_identity) return identities.checkFree(identity);
  throw proxyError(
    'IDENTITY_CONFLICT',
    `Identity conflict: '${identity}' is neither held by this proxy nor the client's own (ATM_IDENTITY): it does not speak for others, and reads their mail only with mark_read false`,
    { identity, conflicting_agent_id: null },
  );
}
