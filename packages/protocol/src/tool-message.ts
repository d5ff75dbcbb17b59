/** What Langroid keeps for itself in a ToolMessage; an argument of such a name gets two underscores, as its own MCP client does. */
const RESERVED = [
  'request',
  'purpose',
  'id',
  'name',
  'recipient',
  '_handler',
  '_strict',
  '_allow_llm_use',
  '_max_result_tokens',
  '_max_retained_tokens',
];

/** A Langroid ToolMessage on the wire: the tool's name as `request`, and the arguments beside it. */
export interface ToolMessage extends Record<string, unknown> {
  request: string;
}

/** An action's name as a tool of Langroid: models take no dot in it. */
export function toolName(action: string): string {
  return action.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

/** Arguments as the ToolMessage that a Langroid agent executes. */
export function toToolMessage(action: string, args: Readonly<Record<string, unknown>>): ToolMessage {
  const spread = Object.entries(args).map(([name, value]): [string, unknown] => [
    RESERVED.includes(name) ? `${name}__` : name,
    value,
  ]);
  return { request: toolName(action), ...Object.fromEntries(spread) };
}

/** True for arguments that a Langroid agent has wrapped: they name the tool they are for. */
export function isToolMessage(args: Readonly<Record<string, unknown>>): args is ToolMessage {
  return typeof args['request'] === 'string';
}

/** The arguments inside a ToolMessage; what Langroid alone needs is left out. */
export function fromToolMessage({ request: _request, ...rest }: ToolMessage): Record<string, unknown> {
  const inner = Object.entries(rest).filter(([name]) => !RESERVED.includes(name));
  return Object.fromEntries(
    inner.map(([name, value]) => [
      name.endsWith('__') && RESERVED.includes(name.slice(0, -2)) ? name.slice(0, -2) : name,
      value,
    ]),
  );
}
