import { fieldsOf } from '@parley/protocol';
import { type CodexFacts, type RawOptions, RuntimeError } from '@parley/runtimes';

import { childFault } from './child-fault.ts';
import { invalidParams } from './errors.ts';
import type { Log } from './logger.ts';
import type { Params } from './wire/message.ts';

/** What passing on needs of the child. */
interface ChildInItsOwnWords {
  start(): Promise<CodexFacts>;
  request(method: string, params: unknown, options?: RawOptions): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

export interface PassThroughDeps {
  codex: ChildInItsOwnWords;
  /** The child's facts while it lives. */
  living: () => CodexFacts | undefined;
  timeoutMs: number;
  log: Log;
}

/** What is none of the proxy's business goes to the child and comes back as it is. */
export interface PassThrough {
  /** Wakes the child. */
  request(method: string, params: Params, signal: AbortSignal): Promise<unknown>;
  /** A tool that is not the proxy's; only a child that speaks MCP can have it. */
  callTool(params: Params, signal: AbortSignal): Promise<unknown>;
  /** The child's tools, as long as it lives; none of those whose names are taken. */
  tools(taken: ReadonlySet<unknown>): Promise<Params[]>;
  /** Heard by a child that lives and knows what it means; wakes nobody. */
  notify(method: string, params: Params): void;
}

/** A child that does not tell its tools in time has none. */
const LIST_MS = 5_000;
const MOST_PAGES = 20;

/** app-server's own words are not MCP's: what is MCP's alone is not passed on to it, all else is. */
export function createPassThrough({ codex, living, timeoutMs, log }: PassThroughDeps): PassThrough {
  const ask = async (method: string, params: Params, signal: AbortSignal): Promise<unknown> => {
    try {
      return await codex.request(method, params, { signal, timeoutMs });
    } catch (error) {
      if (error instanceof RuntimeError && error.code === 'TIMED_OUT')
        log('warn', 'a request to Codex took too long', { method, timeout_ms: timeoutMs });
      throw childFault(error, { method });
    }
  };

  async function listTools(): Promise<Params[]> {
    const tools: Params[] = [];
    let cursor: unknown;
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = fieldsOf(await codex.request('tools/list', params, { timeoutMs: LIST_MS }));
      const { tools: listed } = answer;
      if (Array.isArray(listed)) tools.push(...listed.map(fieldsOf));
      cursor = answer['nextCursor'];
      if (cursor === undefined || cursor === null) break;
    }
    return tools;
  }

  return {
    request: ask,
    async callTool(params, signal) {
      const { can } = await codex.start().catch((error: unknown) => {
        throw childFault(error);
      });
      if (!can.mcp) throw invalidParams(`Unknown tool: ${String(params['name']).slice(0, 100)}`);
      return ask('tools/call', params, signal);
    },
    async tools(taken) {
      if (living()?.can.mcp !== true) return [];
      try {
        return (await listTools()).filter(({ name }) => !taken.has(name));
      } catch (error) {
        log('warn', 'the tools of the child could not be listed', { error: String(error) });
        return [];
      }
    },
    notify(method, params) {
      const facts = living();
      if (facts === undefined || method === 'notifications/initialized') return;
      if (!facts.can.mcp && method.startsWith('notifications/')) return;
      codex
        .notify(method, params)
        .catch((error: unknown) =>
          log('debug', 'a notification was not passed on', { method, error: String(error) }),
        );
    },
  };
}
