import { ParleyError } from '@parley/protocol';

import type { Settings } from '../config/schema.ts';
import { invalidParams, proxyError } from '../errors.ts';
import type { Identities } from '../identity/identities.ts';
import { CLIENT_MAIL_TOOLS, type MailToolDeps } from '../mail/mail-tools.ts';
import { failed, issueOf, type MailToolResult, told } from '../mail/run-mail-tool.ts';

export interface ClientMailDeps extends MailToolDeps {
  identities: Identities;
  settings: Settings;
}

/** True for a tool of team mail. */
export function isMailTool(name: unknown): boolean {
  return CLIENT_MAIL_TOOLS.some((tool) => tool.name === name);
}

/** A mail tool that the client of the proxy calls: outside of any session it must say for whom. */
export async function callMailTool(
  deps: ClientMailDeps,
  name: string,
  args: unknown,
): Promise<MailToolResult> {
  const tool = CLIENT_MAIL_TOOLS.find((one) => one.name === name);
  const parsed = tool?.input.safeParse(args);
  if (tool === undefined || parsed === undefined) throw invalidParams(`Unknown tool: ${name}`);
  if (!parsed.success) throw invalidParams(`Invalid arguments: ${issueOf(parsed.error)}`);
  const { identity, ...rest } = parsed.data as { identity?: string };
  if (identity === undefined)
    throw proxyError('IDENTITY_REQUIRED', `${name} is called outside of a session: say for which identity`);
  await checkHolder(deps, identity, tool.acts(rest));
  const agentId = deps.identities.agentOf(identity) ?? null;
  try {
    return told(await tool.run(deps, { identity, agentId }, rest));
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
