import { CONTRACTS, type OperationName, unknownFields } from '@parley/protocol';

import { isIgnored } from './results.ts';

/**
 * Throws where an answer is not what the contract of its operation says, a field that the contract does not know
 * included. It tells where, and never what stands there.
 */
export function checkAnswer(name: OperationName, answer: Record<string, unknown>): void {
  if (isIgnored(answer) && Object.keys(answer).every((field) => field === 'ignored' || field === 'last_seq'))
    return;
  const parsed = CONTRACTS[name].output.safeParse(answer);
  const fields = parsed.success
    ? unknownFields(answer, parsed.data).map((field) => `${field} is not in it`)
    : parsed.error.issues.map(({ code, path }) => `${path.map(String).join('.')}: ${code}`);
  if (fields.length > 0)
    throw new Error(`the answer of ${name} differs from its contract: ${fields.join(', ')}`);
}
