import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
  type ServerEvent,
  type Tool,
} from '@modelcontextprotocol/server';

/** What a fixture works with beside its arguments. */
export interface FixtureCall {
  arguments: Record<string, unknown>;
  ctx: ServerContext;
  /** Tells this caller's listen streams of a change. */
  publish: (event: ServerEvent) => void;
  /** Seals state for the next round of this very request. */
  seal: (payload: unknown) => string;
  /** The state of the round before, or undefined in the first; throws when it is not ours. */
  state: () => unknown;
}

/** A tool that the conformance suite calls by name; FIXTURES.md in its tests says what it expects. */
export interface FixtureTool extends Tool {
  run: (
    call: FixtureCall,
  ) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;
}

/** A tool without arguments. */
export function fixture(name: string, description: string, run: FixtureTool['run']): FixtureTool {
  return { name, description, inputSchema: { type: 'object' }, run };
}

/** A result of one text. */
export function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}

/** What the client of a modern request says it can do. */
export function clientCapabilities(ctx: ServerContext): ClientCapabilities {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
}
