/** The words that every runner of a real client shares. */

/** How the client under test reaches the MCP server. */
export type McpServer =
  | { kind: 'stdio'; command: string; args: string[]; env?: Record<string, string> }
  | { kind: 'http'; url: string; token?: string };

/** A tool call the scripted model makes; arguments may depend on what came back before. */
export interface ToolCall {
  tool: string;
  arguments: Record<string, unknown> | ((results: ToolResult[]) => Record<string, unknown>);
}

/** A tool's answer as the client showed it to the model; `structured` is set when that was a JSON object. */
export interface ToolResult {
  tool: string;
  text: string;
  structured?: Record<string, unknown>;
  isError: boolean;
}

/** What one run of a client is asked to do. */
export interface AgentTask {
  server: McpServer;
  calls: ToolCall[];
  /** The name under which the client knows the server, `hub` unless given. */
  serverName?: string;
  timeoutMs?: number;
  /** How long its processes may take to end after it; 2 s unless given. */
  graceMs?: number;
  /** Settings of the client, such as hooks; Claude Code only. */
  settings?: Record<string, unknown>;
}

/** What happened; `leftBehind` lists processes of the run that had to be killed after the client had ended. */
export interface AgentRun {
  results: ToolResult[];
  exitCode: number | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
  /** Every model-visible request of the client, whole, for closer looks. */
  modelRequests: unknown[];
  /** Paths the client asked of the model's host beyond the model itself. */
  strays: string[];
  leftBehind: string[];
  durationMs: number;
}

/** Resolves the arguments of one call against the results so far. */
export function argumentsOf(call: ToolCall, results: ToolResult[]): Record<string, unknown> {
  return typeof call.arguments === 'function' ? call.arguments(results) : call.arguments;
}

/** Reads a tool's answer: many clients hand structured content to the model as JSON text. */
export function toolResult(tool: string, text: string, isError: boolean): ToolResult {
  const structured = parseObject(text);
  return { tool, text, isError, ...(structured === undefined ? {} : { structured }) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
