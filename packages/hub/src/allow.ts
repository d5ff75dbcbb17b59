import { HttpRefusal } from './exchange.ts';

/** Refuses a method that a path does not take, and names those it does. */
export function allow(method: string | undefined, allowed: readonly string[]): void {
  if (method !== undefined && allowed.includes(method)) return;
  throw new HttpRefusal(405, 'NOT_FOUND', `use ${allowed.join(' or ')} here`, { allow: allowed.join(', ') });
}
