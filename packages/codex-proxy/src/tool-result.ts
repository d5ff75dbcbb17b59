import { showUnseen } from '@parley/protocol';

/** The result of a tool, as MCP has it. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [more: string]: unknown;
}

/** Facts as a model reads them: most clients hand it the structured part, so nothing is hidden in either. */
export function reported(facts: object): ToolResult {
  const shown = shownIn({ ...facts });
  return { content: [{ type: 'text', text: JSON.stringify(shown) }], structuredContent: shown };
}

/** A failure as the model hears it. */
export function failed(code: string, message: string): ToolResult {
  return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true };
}

function shownIn<T>(value: T): T;
function shownIn(value: unknown): unknown {
  if (typeof value === 'string') return showUnseen(value);
  if (Array.isArray(value)) return value.map((item) => shownIn<unknown>(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shownIn<unknown>(item)]));
}
