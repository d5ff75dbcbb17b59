import * as z from 'zod';

import { IDENTITY_PATTERN, IDENTITY_RULE } from '../identity/identity-name.ts';
import { CLIENT_MAIL_TOOLS } from '../mail/mail-tools.ts';

const text = (description: string) => z.string().describe(description);
const name = (description: string) =>
  z.string().regex(IDENTITY_PATTERN, `must be ${IDENTITY_RULE}`).describe(description);

const autoMail = z
  .boolean()
  .describe('whether mail starts turns of this session by itself; as configured by default')
  .optional();

/** The arguments of `codex`: three ways to begin, and what Codex itself takes. */
export const CodexArguments = z.strictObject({
  prompt: text('the task; needed unless agent_file or agent_id is given').optional(),
  agent_file: text('file whose contents are the prompt; excludes prompt').optional(),
  agent_id: text('a session that ended: take it up again').optional(),
  identity: name('the name of the agent in its team; one session at a time has it').optional(),
  role: text('a role preset of the configuration').optional(),
  cwd: text('working folder; the repository by default').optional(),
  tag: text('a label of your own').max(200).optional(),
  model: text('model override').optional(),
  'approval-policy': z
    .enum(['untrusted', 'on-failure', 'on-request', 'never'])
    .describe('when Codex asks for approval')
    .optional(),
  sandbox: z
    .enum(['read-only', 'workspace-write', 'danger-full-access'])
    .describe('what Codex may touch')
    .optional(),
  'base-instructions': text("replaces Codex's own instructions").optional(),
  'developer-instructions': text('added as a message of the developer').optional(),
  'compact-prompt': text('prompt for compacting the conversation').optional(),
  profile: text('profile of the Codex configuration').optional(),
  config: z.record(z.string(), z.unknown()).describe('overrides of the Codex configuration').optional(),
  auto_mail: autoMail,
});

export type CodexArguments = z.output<typeof CodexArguments>;

/** The arguments of `codex-reply`. */
export const ReplyArguments = z.strictObject({
  prompt: text('the next message'),
  agent_id: text('the session, as `codex` named it').optional(),
  threadId: text("the session by Codex's own id").optional(),
  conversationId: text('deprecated: the same as threadId').optional(),
  'developer-instructions': text('added to this turn as a message of the developer').optional(),
  auto_mail: autoMail,
});

export const CloseArguments = z.strictObject({
  agent_id: text('the session').optional(),
  identity: text('the session that has this identity').optional(),
});

export const NoArguments = z.strictObject({});

interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  annotations: Record<string, boolean>;
}

const acts = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const looks = { readOnlyHint: true, openWorldHint: false };

/** Every tool of the proxy, in the order in which clients see them. */
const TOOLS = [
  {
    name: 'codex',
    title: 'Start a Codex agent',
    description:
      'Start a Codex session as a teammate and wait for its first answer. Give prompt, or agent_file, or the agent_id of a session that ended to resume it. The answer names the agent_id for codex-reply and agent_close.',
    input: CodexArguments,
    annotations: { ...acts, openWorldHint: true },
  },
  {
    name: 'codex-reply',
    title: 'Continue a Codex agent',
    description:
      'Send the next message to a Codex session and wait for its answer. Messages to one session queue up.',
    input: ReplyArguments,
    annotations: { ...acts, openWorldHint: true },
  },
  {
    name: 'agent_sessions',
    title: 'List agents',
    description: 'The active sessions, and those that can be resumed.',
    input: NoArguments,
    annotations: looks,
  },
  {
    name: 'agent_status',
    title: 'Health of the proxy',
    description: 'Whether Codex runs, since when, and which identity belongs to which session.',
    input: NoArguments,
    annotations: looks,
  },
  {
    name: 'agent_close',
    title: 'Close an agent',
    description:
      'End a session by agent_id or identity. A running turn is interrupted and the agent asked for a summary; the identity is free afterwards.',
    input: CloseArguments,
    annotations: { ...acts, idempotentHint: true },
  },
  ...CLIENT_MAIL_TOOLS,
] as const satisfies readonly Tool[];

/** The names that no tool of the child can have beside the proxy's. */
export const OWN_NAMES: ReadonlySet<unknown> = new Set(TOOLS.map((tool) => tool.name));

/** The tools as `tools/list` tells them. */
export function listTools(): Record<string, unknown>[] {
  return TOOLS.map(({ name: tool, title, description, input, annotations }) => {
    const { $schema: _schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
    return { name: tool, title, description, inputSchema, annotations: { title, ...annotations } };
  });
}
