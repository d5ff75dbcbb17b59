import { Name, PASSKEY_DEMANDS } from '@parley/protocol';
import * as z from 'zod';

import { TERMINAL } from './run-defaults.ts';
import { group, ms, whole } from './setting-kinds.ts';

const WakeAgent = z.strictObject({
  agent: Name,
  workspace: Name.optional(),
  runtime: z.enum(['codex', 'claude', 'other']),
  cwd: z.string().startsWith('/').optional().describe('folder its sessions run in'),
  bin: z.string().min(1).optional().describe('program to start; codex or claude in PATH when left out'),
  home: z.string().startsWith('/').optional().describe('its CODEX_HOME or CLAUDE_CONFIG_DIR'),
  doors: z.array(z.enum(['live', 'resume', 'new'])).default(['live', 'resume']),
  args: z.array(z.string()).default([]).describe('further arguments of what is started'),
  env: z
    .array(
      z.string().regex(/^(?!PARLEY_|ATM_)[A-Za-z_]\w*$/, {
        error: 'must name a variable that is not the hub’s own',
      }),
    )
    .default([])
    .describe('variables of the hub that what is started may see, such as OPENAI_API_KEY'),
  quiet: z.boolean().default(false),
});
export type WakeAgent = z.output<typeof WakeAgent>;

const Dollars = z.number().min(0).max(100_000);
const Price = z.strictObject({
  model: z.string().min(1).max(128).describe('a model, or how the names of several begin'),
  input_usd: Dollars.describe('dollars for a million tokens that it reads'),
  cached_input_usd: Dollars.optional().describe('the same from a cache; as the others when left out'),
  output_usd: Dollars.describe('dollars for a million tokens that it writes'),
});

/** Agents: their sessions, how they are connected, woken and heard of. */
export const AGENTS = {
  managed: group({
    restarts: whole(5, 0, 'how often a managed program that dies is started again before it is given up'),
    restart_ms: ms(1_000, 'how long the first of these waits is; each is twice the one before, up to 30 s'),
  }),
  sessions: group({
    offline_after_ms: ms(120_000, 'silence after which a session reads offline'),
    stuck_after_ms: ms(60_000, 'silence after which an agent in the middle of work reads stuck'),
    return_ms: ms(
      30_000,
      'how long an agent that is gone may take to come back before its asks are withdrawn',
    ),
    unread_stuck_ms: ms(600_000, 'age of unread messages after which their agent reads stuck'),
    states_keep_days: whole(
      30,
      0,
      'for how many days the hub remembers what each agent was at, for the timeline; 0: it notes nothing',
    ),
    forget_once_after_ms: ms(
      86_400_000,
      'how long a program of `parley run` that said nothing, is in no thread and asked nothing must be gone to be taken off the list of agents; 0: never',
    ),
  }),
  asks: group({
    passkey: z
      .enum(PASSKEY_DEMANDS)
      .default('off')
      .describe(
        'high_risk: what is of high risk is approved with a passkey only, in the dashboard; a denial needs none',
      ),
    high_risk: z
      .array(z.string().regex(/^\S+( \S+)*$/, 'must be words with one space between them'))
      .max(200)
      .default([])
      .describe(
        'commands that are high risk here beside those the hub knows: a program and words that follow it in this order, such as `make deploy`; a person is asked for them whatever was approved for good',
      ),
  }),
  usage: group({
    keep_days: whole(400, 1, 'for how many days the hub remembers what agents used'),
    own_terminals: z
      .boolean()
      .default(true)
      .describe(
        'report the tokens of Claude Code and Codex at your own terminal: `parley mcp` and `parley run` read them from the record that the program keeps itself; numbers and model names, no text',
      ),
    prices: z
      .array(Price)
      .max(200)
      .default([])
      .describe(
        'what models cost here, for turns whose runtime reports tokens and no cost; a model is meant by the beginning of its name',
      ),
  }),
  presence: group({
    ttl_ms: z
      .number()
      .int()
      .min(1_000)
      .max(3_600_000)
      .default(60_000)
      .describe('how long a presence holds unless it is said again, in milliseconds'),
    registry: z
      .string()
      .default('')
      .describe(
        'YAML or JSON file with `clients` and `models`, lists of names or objects whose keys they are; others are allowed and remarked upon in the log',
      ),
  }),
  live: group({
    messages_per_minute: whole(60, 1, 'messages a client may send over /ws in any minute'),
    messages_burst: whole(60, 1, 'how many of these in any second'),
    agent_messages_per_minute: whole(
      6_000,
      1,
      'messages an agent may send in any minute over a /ws on which it has registered',
    ),
    agent_messages_burst: whole(1_000, 1, 'how many of these in any second'),
    frame_bytes: whole(131_072, 1_024, 'size of one message over /ws'),
    fragments: whole(1_024, 1, 'parts in which one message over /ws may come'),
    ping_ms: z
      .number()
      .int()
      .min(50)
      .default(15_000)
      .describe(
        'how often a connection is asked whether it still lives, in milliseconds; one that does not answer until the next time is ended',
      ),
    client_pings: whole(120, 1, 'pings a client may send between two of ours'),
    command_timeout_ms: ms(30_000, 'how long an agent may take to answer a command'),
    max_concurrent: whole(8, 1, 'commands an agent may have in flight when its registration does not say'),
    send_buffer_bytes: whole(1_048_576, 16_384, 'what may wait to be sent to a reader before it is left out'),
    stuck_ms: ms(60_000, 'how long a reader may take nothing before its connection is ended'),
    ticket_ms: z
      .number()
      .int()
      .min(1)
      .max(60_000)
      .default(60_000)
      .describe('lifetime of a ticket for /ws?token=, in milliseconds'),
    mailbox_messages: whole(1_000, 1, 'messages that wait for a client of the HTTP fallback'),
    mailbox_idle_ms: ms(60_000, 'how long a mailbox lives that nobody fetches'),
  }),
  wake: group({
    quiet: z.boolean().default(false).describe('wake nobody unless an operator insists'),
    on_call: z
      .boolean()
      .default(true)
      .describe('wake those whom a message calls upon: by name, by task, by invited_auto'),
    grace_ms: ms(
      1_000,
      'how long one who is called upon and might read by itself has to, before it is woken',
    ),
    recheck_ms: z
      .number()
      .int()
      .min(20)
      .default(5_000)
      .describe('how often a deferred wake looks again, in milliseconds'),
    quiet_ms: ms(20_000, 'how long a person must have typed nothing before an agent is woken there'),
    max_defer_ms: ms(60_000, 'how long a wake waits for a person to pause'),
    expire_ms: ms(86_400_000, 'how long a wake waits in all, such as for the end of a turn'),
    proof_ms: z
      .number()
      .int()
      .min(100)
      .default(30_000)
      .describe('how long a door may take to prove that it delivered, in milliseconds'),
    return_ms: ms(30_000, 'how long a supervisor that has lost its connection is expected back'),
    repeat_after_ms: ms(600_000, 'how long a wake stands for the same messages before they may wake again'),
    pair_per_hour: whole(30, 1, 'how often one agent may have another woken within an hour'),
    target_per_hour: whole(120, 1, 'how often an agent may be woken by agents within an hour'),
    any_version: z
      .boolean()
      .default(false)
      .describe('use doors also with versions of a runtime that nobody has tried'),
    agents: z
      .array(WakeAgent)
      .default([])
      .describe('how agents are woken that nobody supervises; see docs/waking.md'),
  }),
  notify: group({
    allowed_hosts: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'hosts, with or without a port, that notifications may go to although their address is private or without TLS, such as an ntfy server in your network',
      ),
    contact: z
      .string()
      .regex(/^(?:|mailto:.+@.+|https:\/\/.+)$/, { error: 'must be a mailto: or https: address' })
      .default('')
      .describe('address that push services may turn to, mailto: or https:; empty: the address of the hub'),
    grace_ms: ms(5_000, 'how long a person has to see that a message calls upon them before they are told'),
    look_ms: z
      .number()
      .int()
      .min(100)
      .default(15_000)
      .describe('how often agents are looked at for trouble to tell of, in milliseconds'),
    trouble_after_ms: ms(300_000, 'how long an agent must be stuck before people are told'),
    repeat_ms: ms(1_800_000, 'how long nothing more is told of the trouble of one agent'),
    retry_ms: z
      .number()
      .int()
      .min(10)
      .default(30_000)
      .describe('how long to wait after a failure, in milliseconds; twice as long after each further one'),
    give_up_ms: ms(86_400_000, 'how long what could not be sent is tried again'),
    timeout_ms: ms(10_000, 'how long a push service, ntfy server or webhook may take to answer'),
  }),
  terminal: group({
    quiet_ms: ms(
      TERMINAL.quiet_ms,
      'how long a person must have pressed no key before `parley run` types a text',
    ),
    recheck_ms: z
      .number()
      .int()
      .min(10)
      .default(TERMINAL.recheck_ms)
      .describe('how often `parley run` looks again at a text that waits, in milliseconds'),
    max_defer_ms: ms(
      TERMINAL.max_defer_ms,
      'how long a person may keep a text waiting before it is given up',
    ),
    expire_ms: ms(
      TERMINAL.expire_ms,
      'how long a text may wait for the program itself before it is given up',
    ),
  }),
};
