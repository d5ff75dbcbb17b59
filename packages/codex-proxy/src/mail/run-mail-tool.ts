import { ParleyError, issueWords } from '@parley/protocol';
import type { z } from 'zod';

import { auditedCall } from '../audit/audited-call.ts';
import { RpcError } from '../errors.ts';
import { failed, reported, type ToolResult } from '../tool-result.ts';
import { MAIL_TOOLS, type MailToolDeps, type MailUser } from './mail-tools.ts';

/** Runs a mail tool for a session; whatever goes wrong is on record, and told to the model as the tool's failure. */
export async function runMailTool(
  deps: MailToolDeps,
  { identity, agentId }: MailUser,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  try {
    const done = await auditedCall(deps.audit, { tool: name, identity, agentId }, async (note) => {
      const found = MAIL_TOOLS.find((tool) => tool.name === name);
      if (found === undefined) throw new ParleyError('NOT_FOUND', `There is no tool ${name}`);
      const parsed = found.input.safeParse(args);
      if (!parsed.success) throw new ParleyError('VALIDATION_ERROR', issueOf(parsed.error, args));
      await deps.names.check(identity);
      note(found.note(parsed.data));
      return found.run(deps.mail, identity, parsed.data);
    });
    return reported(done);
  } catch (error) {
    if (error instanceof ParleyError) return failed(error.code, error.message);
    if (error instanceof RpcError) return failed(String(error.data?.['error_name']), error.message);
    throw error;
  }
}

/** The first thing that is wrong with the arguments of a call. */
export function issueOf({ issues: [issue] }: z.ZodError, args: unknown): string {
  const path = issue?.path ?? [];
  return `${path.length === 0 ? '' : `${path.join('.')}: `}${issueWords(issue, args)}`;
}
