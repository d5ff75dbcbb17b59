import { proxyError } from '../errors.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { Launch } from '../session/session-thread.ts';
import { folderOf, type LaunchDeps, launchOf } from './launch.ts';
import type { CodexArguments } from './schemas.ts';

export interface ReopeningDeps extends LaunchDeps {
  /** Where the proxy was started. */
  cwd: string;
  /** True for a thread whose server has it and cannot open it anew. */
  isFixed: (threadId: string) => boolean;
}

/** What is settled when a thread is opened. */
const FIXED = [
  'role',
  'cwd',
  'model',
  'approval-policy',
  'sandbox',
  'base-instructions',
  'compact-prompt',
  'profile',
  'config',
] as const satisfies readonly (keyof CodexArguments)[];

/** How a session that had ended is launched again, and what changes in its record: every argument counts, or is refused. */
export async function reopening(
  deps: ReopeningDeps,
  record: SessionRecord,
  args: Partial<CodexArguments>,
): Promise<{ launch: Launch; change: Partial<SessionRecord> }> {
  if (args['base-instructions'] !== undefined)
    throw refusal(record, ['base-instructions'], 'once it has begun; start a new one');
  if (deps.isFixed(record.backend_id ?? ''))
    refuseFixed(args, record, 'as codex mcp-server has its thread open; start a new one');
  const role = args.role ?? record.role ?? null;
  // What the session was given before holds on, but not against a role that is named now.
  const before = args.role === undefined ? wordsOf(record) : {};
  const launch = await launchOf(deps, { ...before, ...args }, role);
  const change = {
    role,
    ...(args.role === undefined ? {} : namedBy({})),
    ...(args.cwd === undefined ? {} : { cwd: await folderOf(args.cwd, record.cwd, deps.cwd) }),
    ...(args.tag === undefined ? {} : { tag: args.tag }),
    ...(args.auto_mail === undefined ? {} : { auto_mail: args.auto_mail }),
    ...dropUndefined({ model: args.model, sandbox: args.sandbox, approval_policy: args['approval-policy'] }),
  };
  return { launch, change };
}

/** What a call asks for itself, as the record keeps it. */
export function namedBy(args: Partial<CodexArguments>) {
  return {
    model: args.model ?? null,
    sandbox: args.sandbox ?? null,
    approval_policy: args['approval-policy'] ?? null,
  };
}

/** Throws where a call wants to change what cannot be changed now; saying what holds anyway is no change. */
export function refuseFixed(args: Partial<CodexArguments>, record: SessionRecord, why: string): void {
  const held: Partial<CodexArguments> = { ...wordsOf(record), cwd: record.cwd };
  if (typeof record.role === 'string') held.role = record.role;
  const changed = FIXED.filter((key) => args[key] !== undefined && args[key] !== held[key]);
  if (changed.length > 0) throw refusal(record, changed, why);
}

function refusal({ agent_id }: SessionRecord, names: readonly string[], why: string): Error {
  const what = names.join(', ');
  return proxyError('INVALID_SESSION_PARAMS', `${what} of a session cannot be changed ${why}`, {
    agent_id,
    arguments: names,
  });
}

function wordsOf({ model, sandbox, approval_policy }: SessionRecord): Partial<CodexArguments> {
  return dropUndefined({
    model: model ?? undefined,
    // Both are words that Codex took when the session began.
    sandbox: (sandbox ?? undefined) as CodexArguments['sandbox'],
    // As above.
    'approval-policy': (approval_policy ?? undefined) as CodexArguments['approval-policy'],
  });
}

function dropUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const reported = Object.entries(given).filter(([, value]) => value !== undefined);
  // Nothing was left out but what was not given.
  return Object.fromEntries(reported) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
