import type { CallToolResult } from '@modelcontextprotocol/server';
import { CONTRACTS, type OperationName, type ParleyError, seenJson, toEnvelope } from '@parley/protocol';

import { NOTICE } from './instructions.ts';
import { safeJson } from './safe-json.ts';

const MARK = `{"notice":${JSON.stringify(NOTICE)}`;

/** Agents whose models are shown the structured content instead of the text. */
const AGENTS = /^(?:claude-code|codex)/i;

/**
 * An answer: exact for programs, and as text that a model can read without being led astray. An agent whose model would
 * read the exact one gets it only where nothing in it is hidden.
 */
export function toolResult(
  name: OperationName,
  output: Record<string, unknown>,
  client: string | undefined,
): CallToolResult {
  const text = CONTRACTS[name].annotations.readOnlyHint ? markedJson(output) : safeJson(output);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  const isHiding = AGENTS.test(client ?? '') && seenJson(output) !== JSON.stringify(output);
  return isHiding ? { content } : { content, structuredContent: output };
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
