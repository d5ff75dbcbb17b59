import * as z from 'zod';

import { IDENTITY_PATTERN, IDENTITY_RULE, NAME_PATTERN, NAME_RULE } from '../identity/identity-name.ts';

const text = () => z.string().trim().min(1);
const name = () => z.string().trim().regex(NAME_PATTERN, `must be ${NAME_RULE}`);
const identity = () => z.string().trim().regex(IDENTITY_PATTERN, `must be ${IDENTITY_RULE}`);
const seconds = (most: number) => z.number().min(0.05).max(most);

const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const;
const POLICIES = ['untrusted', 'on-failure', 'on-request', 'never'] as const;
const TRANSPORTS = ['auto', 'app-server', 'mcp-server'] as const;

/** What a role may set over the settings of the proxy. */
export const RoleSchema = z.strictObject({
  model: text().optional(),
  reasoning_effort: text().optional(),
  sandbox: z.enum(SANDBOXES).optional(),
  approval_policy: z.enum(POLICIES).optional(),
});

export type Role = z.output<typeof RoleSchema>;

/** One setting: what it takes, who may set it, and one sentence. */
export interface Setting {
  schema: z.ZodType;
  fallback: unknown;
  description: string;
  /** Variables beside ATM_AGENT_MCP_<KEY>, the stronger first. */
  variables?: readonly string[];
  /** A repository that the user has not trusted may not set it, or not to this value. */
  needsTrust?: (value: unknown) => boolean;
}

/** What a repository may lower and not raise: loops cost money. */
const PAIR_TURNS = 20;
const TARGET_TURNS = 60;

const always = (): boolean => true;

/** Every setting of `[plugins.atm-agent-mcp]`; a null means that nothing is passed on, so that Codex decides. */
export const SETTINGS = {
  team: setting(name(), 'default', 'team whose mail and sessions these are', { variables: ['ATM_TEAM'] }),
  identity: setting(identity(), 'codex', 'identity of a session whose call names none'),
  client_identity: setting(
    identity().nullable(),
    null,
    "the client's own name in the team, which no session gets",
    { variables: ['ATM_IDENTITY'], needsTrust: always },
  ),
  codex_bin: setting(text(), 'codex', 'the Codex program', {
    variables: ['CODEX_BIN'],
    needsTrust: always,
  }),
  transport: setting(z.enum(TRANSPORTS), 'auto', 'which server of Codex is driven'),
  model: setting(text().nullable(), null, 'model of a session; none: Codex decides'),
  fast_model: setting(text().nullable(), null, 'model that --fast picks'),
  reasoning_effort: setting(text().nullable(), null, 'how long the model thinks'),
  sandbox: setting(z.enum(SANDBOXES), 'workspace-write', 'what Codex may touch', {
    needsTrust: (value) => value === 'danger-full-access',
  }),
  approval_policy: setting(z.enum(POLICIES).nullable(), null, 'when Codex asks for approval'),
  base_prompt_file: setting(text().nullable(), null, "file that replaces Codex's own instructions", {
    needsTrust: always,
  }),
  extra_instructions_file: setting(text().nullable(), null, 'file that is added to the instructions', {
    needsTrust: always,
  }),
  role: setting(name().nullable(), null, 'role preset of a session whose call names none'),
  subagents: setting(z.boolean(), false, 'let Codex start agents of its own'),
  max_concurrent_threads: setting(
    z.number().int().min(1).max(1_000),
    10,
    'how many sessions may live at once',
  ),
  request_timeout_secs: setting(seconds(86_400), 300, 'how long one turn may take'),
  approval_timeout_secs: setting(seconds(86_400), 300, 'how long an approval may wait for its answer'),
  summary_timeout_secs: setting(seconds(600), 10, 'how long a summary may take when a session closes'),
  max_message_bytes: setting(
    z.number().int().min(1_024).max(268_435_456),
    16_777_216,
    'size of one message from the client',
  ),
  max_event_backlog_bytes: setting(
    z.number().int().min(0).max(268_435_456),
    4_194_304,
    'what may wait for a slow client before events are dropped',
  ),
  auto_mail: setting(z.boolean(), true, 'start a turn when mail arrives'),
  per_thread_auto_mail: setting(
    z.record(identity(), z.boolean()),
    {},
    'identities for which auto_mail is decided otherwise',
  ),
  mail_poll_interval_ms: setting(
    z.number().int().min(50).max(3_600_000),
    5_000,
    'how often mail is looked for',
  ),
  max_mail_messages: setting(z.number().int().min(1).max(1_000), 10, 'messages of one mail turn'),
  max_mail_message_length: setting(
    z.number().int().min(16).max(1_048_576),
    4_096,
    'characters of a message in a mail turn',
  ),
  mail_turns_per_pair: setting(
    z.number().int().min(1).max(100_000),
    PAIR_TURNS,
    'turns that mail of one sender may start in a session within an hour, until the client takes one',
    { needsTrust: (value) => Number(value) > PAIR_TURNS },
  ),
  mail_turns_per_target: setting(
    z.number().int().min(1).max(100_000),
    TARGET_TURNS,
    'turns that all mail may start in a session within an hour, until the client takes one',
    { needsTrust: (value) => Number(value) > TARGET_TURNS },
  ),
  mail_archive_days: setting(
    z.number().int().min(0).max(36_500),
    90,
    'how many days mail that left its inbox is kept; 0: for ever',
    { needsTrust: always },
  ),
  mail_archive_max_bytes: setting(
    z.number().int().min(0),
    67_108_864,
    'how much mail of one inbox is kept, the newest; 0: all',
    { needsTrust: always },
  ),
  hub_enabled: setting(z.boolean(), true, 'show the sessions to the hub, where one runs', {
    needsTrust: always,
  }),
  hub_data: setting(text().nullable(), null, 'data folder of a hub on this machine; none: the usual one', {
    variables: ['PARLEY_DATA'],
    needsTrust: always,
  }),
  hub_url: setting(text().nullable(), null, 'address of another hub; needs hub_token_file', {
    variables: ['PARLEY_URL'],
    needsTrust: always,
  }),
  hub_token_file: setting(
    text().nullable(),
    null,
    'file with a token of the hub, closed to others; {identity} in its name stands for the identity',
    { variables: ['PARLEY_TOKEN_FILE'], needsTrust: always },
  ),
  hub_workspace: setting(text().nullable(), null, "workspace at a hub of this machine; none: the hub's own", {
    variables: ['PARLEY_WORKSPACE'],
    needsTrust: always,
  }),
  hub_bridge: setting(
    z.boolean(),
    false,
    "link the team's mail to the workspace, as the command bridge does",
    {
      needsTrust: always,
    },
  ),
  log_level: setting(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    'info',
    'how much goes to stderr; debug tells every message, trace its bytes too',
  ),
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** The settings that hold, with their types. */
export type Settings = { [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };

/** Other names under which a file may say the same. */
export const ALIASES: Record<string, SettingName> = {
  default_identity: 'identity',
  default_team: 'team',
  max_messages: 'max_mail_messages',
  max_message_length: 'max_mail_message_length',
};

/** The words of older configurations. */
export const OLD_VALUES: Partial<Record<SettingName, Record<string, string>>> = {
  transport: { mcp: 'mcp-server', 'cli-json': 'auto' },
};

function setting<S extends z.ZodType>(
  schema: S,
  fallback: z.output<S>,
  description: string,
  more: Pick<Setting, 'variables' | 'needsTrust'> = {},
) {
  return { schema, fallback, description, ...more };
}
