import { ParleyError, showUnseen } from '@parley/protocol';
import type { z } from 'zod';

import { RpcError } from '../errors.ts';
import { MAIL_TOOLS, type MailToolDeps, type MailUser, noteOf } from './mail-tools.ts';

/** What a mail tool answers, in MCP's form. */
export interface MailToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [more: string]: unknown;
}

/** Runs a mail tool for a session; whatever goes wrong is told to the model as the tool's failure. */
export async function runMailTool(
  deps: MailToolDeps,
  user: MailUser,
  name: string,
  args: Record<string, unknown>,
): Promise<MailToolResult> {
  const refused = (code: string, message: string): MailToolResult => {
    deps.audit.noteEnd({ ...noteOf(name, user), status: 'refused', error_name: code, summary: message });
    return failed(code, message);
  };
  const found = MAIL_TOOLS.find((tool) => tool.name === name);
  if (found === undefined) return refused('NOT_FOUND', `There is no tool ${name}`);
  const parsed = found.input.safeParse(args);
  if (!parsed.success) return refused('VALIDATION_ERROR', issueOf(parsed.error));
  try {
    await deps.names.check(user.identity);
    return told(await found.run(deps, user, parsed.data));
  } catch (error) {
    if (error instanceof ParleyError) return failed(error.code, error.message);
    if (error instanceof RpcError) return failed(String(error.data?.['error_name']), error.message);
    throw error;
  }
}

/** The first thing that is wrong with the arguments of a call. */
export function issueOf({ issues }: z.ZodError): string {
  const { path, message } = issues[0] ?? { path: [], message: 'are not valid' };
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** A result as a model reads it: most clients hand it the structured part, so nothing is hidden in either. */
export function told(data: Record<string, unknown>): MailToolResult {
  const shown = shownIn(data);
  return { content: [{ type: 'text', text: JSON.stringify(shown) }], structuredContent: shown };
}

function shownIn<T>(value: T): T;
function shownIn(value: unknown): unknown {
  if (typeof value === 'string') return showUnseen(value);
  if (Array.isArray(value)) return value.map((item) => shownIn<unknown>(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shownIn<unknown>(item)]));
}

/** A failure as the model hears it. */
export function failed(code: string, message: string): MailToolResult {
  return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true };
}
