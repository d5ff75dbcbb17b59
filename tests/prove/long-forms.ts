/** A test with two sizes: a short one for `npm test`, and a long one with the bounds of its case for `npm run prove`. */
export interface LongForm {
  /** What the long form does, beside the bound that it holds. */
  title: string;
  bound: string;
  file: string;
  project: 'system' | 'crowd';
  /** The part of the test's name by which it is found. */
  test: string;
  /** How long the long form takes on two free cores, about. */
  minutes: number;
  short: Readonly<Record<string, number>>;
  long: Readonly<Record<string, number>>;
}

/** The tests that have two sizes, in the order in which `npm run prove` runs them: what says most first. */
export const LONG_FORMS = {
  'C-DUR-03': {
    title: '50 kills under eight writers',
    bound: 'nothing lost or doubled, each start below 5 s',
    file: 'tests/faults/kill.test.ts',
    project: 'system',
    test: '[C-DUR-03]',
    minutes: 2,
    short: { kills: 6 },
    long: { kills: 50 },
  },
  'C-LOAD-02': {
    title: 'ten times the capacity of the hub for 60 s',
    bound: 'goodput at least 80 % of the peak, at ease within 10 s, 429 or 503 with Retry-After',
    file: 'tests/faults/overload.test.ts',
    project: 'system',
    test: '[C-LOAD-02]',
    minutes: 2,
    short: { seconds: 2, goodput: 0.3 },
    long: { seconds: 60, goodput: 0.8 },
  },
  'C-DUR-23': {
    title: 'stopped for 60 s and continued, with followers by server-sent events',
    bound: 'nobody dropped, at most one sign of life, sessions judged anew',
    file: 'tests/faults/shutdown.test.ts',
    project: 'system',
    test: '[C-DUR-23]',
    minutes: 2,
    short: { stoppedMs: 4_500 },
    long: { stoppedMs: 60_000 },
  },
  'C-DUR-23 /ws': {
    title: 'stopped for 60 s and continued, with 50 clients on /ws',
    bound: 'no healthy connection closed, no ping for what was slept through',
    file: 'tests/ws/half-open.test.ts',
    project: 'system',
    test: '[C-DUR-23]',
    minutes: 2,
    short: { stoppedMs: 3_000 },
    long: { stoppedMs: 60_000 },
  },
  'C-LOAD-01': {
    title: '9,500 followers on /ws, 100 posts a second for five minutes',
    bound: 'no loss, p95 of the acknowledgement at most 1 s, memory grows by less than 5 MB a minute',
    file: 'tests/ws/load.test.ts',
    project: 'crowd',
    test: '[C-LOAD-01]',
    minutes: 8,
    short: { seconds: 10, ackMs: 5_000, grownMbAMinute: 1_000 },
    long: { seconds: 300, ackMs: 1_000, grownMbAMinute: 5 },
  },
  'C-WS-26': {
    title: '9,500 connections, idle for five minutes',
    bound: 'all stay, p95 of a command below 250 ms',
    file: 'tests/ws/load.test.ts',
    project: 'crowd',
    test: '[C-WS-26]',
    minutes: 7,
    short: { seconds: 0, commandMs: 1_250 },
    long: { seconds: 300, commandMs: 250 },
  },
  chaos: {
    title: 'ten minutes of kills, stops, full disks, clock steps, foreign locks, failing checkpoints',
    bound: 'nothing acknowledged lost, doubled, replayed or served damaged',
    file: 'tests/faults/chaos.test.ts',
    project: 'system',
    test: 'kills, stops, full disks',
    minutes: 12,
    short: { seconds: 0, pace: 0.4, restMs: 20 },
    long: { seconds: 600, pace: 1, restMs: 0 },
  },
  'C-DUR-04': {
    title: 'every call of the recovery, killed, failing once and failing from then on',
    bound: 'the third start recovers, nothing lost',
    file: 'tests/faults/recovery.test.ts',
    project: 'system',
    test: '[C-DUR-04]',
    minutes: 30,
    short: { points: 2, everyFault: 0, timeoutMs: 180_000 },
    long: { points: 1_000_000, everyFault: 1, timeoutMs: 10_800_000 },
  },
  'C-DUR-19': {
    title: 'the making of the schema, killed at every call that writes or syncs',
    bound: 'the next start has it whole',
    file: 'tests/faults/recovery.test.ts',
    project: 'system',
    test: 'killed at any step of making the schema',
    minutes: 5,
    short: { points: 2, timeoutMs: 120_000 },
    long: { points: 1_000_000, timeoutMs: 3_600_000 },
  },
  'C-DUR-10': {
    title: 'an export held open for 60 s under writes',
    bound: 'one consistent moment, the write-ahead log shrinks afterwards',
    file: 'tests/faults/snapshot.test.ts',
    project: 'system',
    test: '[C-DUR-10]',
    minutes: 2,
    short: { seconds: 0 },
    long: { seconds: 60 },
  },
  'C-LOAD-05': {
    title: '2,000 sockets with slow headers',
    bound: 'closed at the header timeout, p95 of the others below twice theirs alone (10 ms count as none)',
    file: 'tests/hub/load.test.ts',
    project: 'system',
    test: '[C-LOAD-05]',
    minutes: 1,
    short: { slack: 5 },
    long: { slack: 1 },
  },
  'C-LOAD-06': {
    title: 'the worst inputs of all fields',
    bound: 'none holds the event loop for more than 100 ms',
    file: 'tests/hub/load.test.ts',
    project: 'system',
    test: '[C-LOAD-06]',
    minutes: 2,
    short: { heldMs: 500 },
    long: { heldMs: 100 },
  },
  'C-AUTH-24': {
    title: '500 bad tokens from one peer while another works',
    bound: 'all refused within 5 s, p95 of the other below twice its own (10 ms count as none)',
    file: 'tests/hub/token-flood.test.ts',
    project: 'system',
    test: '[C-AUTH-24]',
    minutes: 1,
    short: { slack: 5, floodMs: 60_000 },
    long: { slack: 1, floodMs: 5_000 },
  },
  'C-WS-20': {
    title: 'a reader that stops before 60,000 events of 1 KB',
    bound: 'the hub grows by less than 57 MB, a gap is told, the others get all',
    file: 'tests/ws/limits.test.ts',
    project: 'system',
    test: '[C-WS-20]',
    minutes: 3,
    short: { events: 2_500, bytes: 8_000, grownMb: 120 },
    long: { events: 60_000, bytes: 1_000, grownMb: 57 },
  },
  'C-WS-22': {
    title: 'a flood of pings beside others',
    bound: 'the flooder is cut off, p99 of the others below 100 ms',
    file: 'tests/ws/limits.test.ts',
    project: 'system',
    test: '[C-WS-22]',
    minutes: 1,
    short: { waitedMs: 500 },
    long: { waitedMs: 100 },
  },
  'C-DUR-22': {
    title: 'a second SIGTERM',
    bound: 'ends within 500 ms',
    file: 'tests/faults/shutdown.test.ts',
    project: 'system',
    test: 'a second SIGTERM ends at once',
    minutes: 1,
    short: { endedMs: 5_000 },
    long: { endedMs: 500 },
  },
  'C-ENV-18': {
    title: 'a chain of 10,000 documents: moved, deleted, restored, exported',
    bound: 'each below 2 s',
    file: 'tests/knowledge/deep-tree.test.ts',
    project: 'system',
    test: '[C-ENV-18]',
    minutes: 3,
    short: { eachMs: 120_000 },
    long: { eachMs: 2_000 },
  },
  'C-MAIL-09': {
    title: 'an inbox of 5,000 mails and 5 MB',
    bound: 'a read below 1 s',
    file: 'tests/mail/large.test.ts',
    project: 'system',
    test: '[C-MAIL-09]',
    minutes: 1,
    short: { readMs: 30_000 },
    long: { readMs: 1_000 },
  },
  'C-PROXY-39': {
    title: '1,000 forwards through the proxy, beside 100 idle sessions',
    bound: 'adds less than 10 ms at p95',
    file: 'tests/proxy/latency.test.ts',
    project: 'system',
    test: '[C-PROXY-39]',
    minutes: 2,
    short: { addedMs: 50 },
    long: { addedMs: 10 },
  },
  'night of mail': {
    title: '1,000 mails to ten sessions, with 20 kills of the proxy or of Codex',
    bound: 'none lost, none given twice, the loop ends, the audit has it all',
    file: 'tests/proxy/mail-night.test.ts',
    project: 'system',
    test: 'mails to ten sessions',
    minutes: 40,
    short: { mails: 60 },
    long: { mails: 1_000 },
  },
  bridge: {
    title: '200 messages each way between mail and hub, the bridge killed four times, the hub once',
    bound: 'none lost, none doubled',
    file: 'tests/proxy/hub-bridge-crash.test.ts',
    project: 'system',
    test: 'killed again and again',
    minutes: 3,
    short: { part: 16 },
    long: { part: 40 },
  },
  'chaos of nodes': {
    title:
      'three nodes on PostgreSQL and NATS for 30 minutes: killed, cut off, the servers killed and stopped',
    bound: 'nothing lost or doubled, refusals only UNAVAILABLE, commands and wakes once, well within 10 s',
    file: 'tests/nodes/chaos.test.ts',
    project: 'system',
    test: 'nothing acknowledged is lost',
    minutes: 33,
    short: { seconds: 0, natsMs: 1_000, cutMs: 1_000, restMs: 50 },
    long: { seconds: 1_800, natsMs: 60_000, cutMs: 2_000, restMs: 10 },
  },
} as const satisfies Record<string, LongForm>;

export type LongFormId = keyof typeof LONG_FORMS;

/** True under `npm run prove`. */
const isLong = process.env['PROVE'] === 'long';

/** The sizes and bounds that a test takes now. */
export function sizeOf<Id extends LongFormId>(id: Id): Record<keyof (typeof LONG_FORMS)[Id]['long'], number> {
  const { short, long }: { short: unknown; long: unknown } = LONG_FORMS[id];
  return (isLong ? long : short) as Record<keyof (typeof LONG_FORMS)[Id]['long'], number>;
}
