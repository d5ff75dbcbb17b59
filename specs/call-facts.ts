import { CONTRACTS } from '@parley/protocol';

/** The text of `call-facts.ts`: what the contracts say of each operation that a client needs without them. */
export function callFacts(): string {
  const facts = Object.entries(CONTRACTS).map(([name, { input }]) => {
    const words = [
      ...('idempotency_key' in input.shape ? ['keyed'] : []),
      ...('timeout_ms' in input.shape ? ['waits'] : []),
    ];
    return `  ${name}: '${words.length === 0 ? 'plain' : words.join(', ')}',\n`;
  });
  return `// Written by \`npm run clients\` from the contracts.
import type { OperationName } from './contracts.ts';

/** Whether an operation takes an idempotency key, and whether it may wait at the hub (\`timeout_ms\`). */
export type CallFact = 'plain' | 'keyed' | 'waits' | 'keyed, waits';

/** What a client knows of each operation without its schemas: a command that makes one call need not build them all. */
export const CALL_FACTS: Readonly<Record<OperationName, CallFact>> = {
${facts.join('')}};
`;
}
