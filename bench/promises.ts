/** What a bench promises of a figure: at most, or at least, so much of a unit. */
export interface BenchPromise {
  what: string;
  most?: number;
  least?: number;
  unit: string;
  /** An aim that the README says is not reached yet: told of, and no reason to fail. */
  aim?: true;
}

/** The promises by bench and name; a run with --check fails on each that it measures and that does not hold. */
export const PROMISES = {
  'posts.echo': { what: 'durable posts, of a bare echo of the body', least: 0.7, unit: 'times', aim: true },
  'posts.cpu': { what: 'CPU a post, 64 connections', most: 120, unit: 'µs', aim: true },
  'batching.ratio': { what: 'group commit against one each', least: 5, unit: 'times' },
  'isolation.p99': { what: 'read beside 64 writers, slow disk, p99', most: 15, unit: 'ms' },
  'housekeeping.p99': { what: 'p99 beside housekeeping, of the quiet one', most: 2, unit: 'times' },
  'lists.page': { what: 'a page among many, of one among few', most: 1.2, unit: 'times' },
  'tree.beside': { what: "another's post beside 100 moves at once", most: 200, unit: 'ms' },
  'mcp.cpu': { what: 'CPU a post over MCP', most: 1_000, unit: 'µs' },
  'follow.p99': { what: 'a message at 1,000 followers, p99', most: 250, unit: 'ms' },
  'fanout.ratio': { what: 'one post to many sockets, of a bare ws', most: 1.5, unit: 'times' },
  'fanout.idle': { what: 'an idle connection, resident', most: 20, unit: 'kB' },
  'million.memory': { what: 'memory after a million posts', most: 150, unit: 'MB' },
  'million.start': { what: 'start after SIGKILL to the first page', most: 5, unit: 's' },
  'million.page': { what: 'a page of the long thread, of one of a short one', most: 1.2, unit: 'times' },
  'before.ratio': { what: 'what an earlier build takes, of what this one does', least: 0.97, unit: 'times' },
  'scale.insert': { what: 'posts on one node, of a batched insert of the rows', least: 0.4, unit: 'times' },
  'scale.three': { what: 'posts on three nodes, of those on one', least: 0.9, unit: 'times' },
  'scale.flat': { what: 'CPU a post among many, of that among few', most: 1.2, unit: 'times' },
  'scale.news': { what: 'a post at one node to a follower at another, p99', most: 250, unit: 'ms' },
  'scale-model.full': {
    what: 'the busiest part at a million agents, of what it carries',
    most: 0.7,
    unit: 'times',
  },
  'rebuild.start': { what: 'a start on a million messages', most: 5, unit: 's' },
  'index-lag.behind': { what: 'index of words behind, at most', most: 2_000, unit: 'ms' },
  'proxy.p50': { what: 'added by the proxy, p50', most: 0.3, unit: 'ms' },
  'proxy.p99': { what: 'added by the proxy, p99', most: 2, unit: 'ms' },
  'terminal.flow': { what: 'a flood of output, of script', most: 2, unit: 'times' },
  'terminal.start': { what: 'start of parley run', most: 250, unit: 'ms' },
  'terminal.echo': { what: 'a key to its echo, p50', most: 0.15, unit: 'ms' },
  'terminal.memory': { what: 'parley run, resident', most: 60, unit: 'MB' },
  'envelope.internal': { what: 'envelope, internal, p95', most: 1_000, unit: 'ms' },
  'envelope.external': { what: 'envelope, JWS from outside, p95', most: 2_000, unit: 'ms' },
  'dashboard.requests': {
    what: 'requests for the page of a thread that is opened',
    most: 1,
    unit: 'request',
  },
  'dashboard.burst': { what: 'the last row of a burst after its commit', most: 500, unit: 'ms' },
  'search.hybrid': { what: 'documents found, nDCG@10 over what is promised', least: 0, unit: 'more' },
  'search.qdrant': { what: 'nDCG@10 by Qdrant, apart from the embedded index', most: 0.005, unit: 'apart' },
  'search.halves': { what: 'the second half of a long text, behind the first', most: 0.01, unit: 'behind' },
  'search-size.p95': {
    what: 'a question of words and meaning, p95, of what is promised',
    most: 1,
    unit: 'times',
  },
  'search-cost.ms': { what: 'a search among a million messages, CPU', most: 10, unit: 'ms' },
  'search-cost.ratio': { what: 'the same, of that among a hundredth of them', most: 2, unit: 'times' },
  'search-speed.vectors': { what: 'vectors a second, of one at a time', least: 4, unit: 'times' },
  'search-speed.busy': { what: 'a question while vectors are made, of a quiet one', most: 2, unit: 'times' },
  'search-speed.crowd': { what: 'the last of many questions at once', most: 1_000, unit: 'ms' },
  'search-answers.lost': { what: 'answers wrongly told to be missing', most: 0.1, unit: 'of all' },
} as const satisfies Record<string, BenchPromise>;

export type PromiseId = keyof typeof PROMISES;

/** The promise in words, as the report and the list print it. */
export function promiseText({ most, least, unit }: BenchPromise): string {
  return most === undefined ? `at least ${least} ${unit}` : `at most ${most} ${unit}`;
}

/** Whether a figure keeps its promise. */
export function isKept({ most = Infinity, least = -Infinity }: BenchPromise, value: number): boolean {
  return value <= most && value >= least;
}
