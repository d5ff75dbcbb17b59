import type { CallToolResult } from '@modelcontextprotocol/server';
import { CONTRACTS, type OperationName, type ParleyError, toEnvelope } from '@parley/protocol';

import { NOTICE } from './instructions.ts';
import { safeJson } from './safe-json.ts';

const MARK = `{"notice":${JSON.stringify(NOTICE)}`;

/** An answer: exact for programs, and as text that a model can read without being led astray. */
export function toolResult(name: OperationName, output: Record<string, unknown>): CallToolResult {
  const text = CONTRACTS[name].annotations.readOnlyHint ? markedJson(output) : safeJson(output);
  return { content: [{ type: 'text', text }], structuredContent: output };
}

/** JSON whose first words say that what follows was written by others. */
export function markedJson(value: Record<string, unknown>): string {
  const json = safeJson(value);
  return json === '{}' ? `${MARK}}` : `${MARK},${json.slice(1)}`;
}

/** An error in the same envelope as on `/v1`. */
export function toolError(error: ParleyError, requestId: string): CallToolResult {
  const envelope = toEnvelope(error, requestId);
  return {
    content: [{ type: 'text', text: safeJson(envelope) }],
    structuredContent: { ...envelope },
    isError: true,
  };
}
