import { fieldsOf } from '@parley/protocol';

/** Whom a token speaks for; nothing is proved by reading it. */
export function agentOf(token: string): string {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return String(fieldsOf(claims)['agent_id']);
}
