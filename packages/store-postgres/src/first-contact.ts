import { ParleyError } from '@parley/protocol';

import { codeOf, textOf } from './faults.ts';
import { type Connection, type ConnectionOptions, openConnection } from './sql.ts';

/** Opens the first connection to a database; what is wrong with the configuration is told in one line. */
export async function firstContact(
  url: string,
  schema: string,
  options?: ConnectionOptions,
): Promise<Connection> {
  try {
    return await openConnection(url, schema, options);
  } catch (error) {
    throw contactFault(error, url);
  }
}

/** Why a database cannot be used, without the password. */
export function contactFault(error: unknown, url: string): ParleyError {
  if (error instanceof ParleyError) return error;
  const where = `PostgreSQL at ${placeOf(url)}`;
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return new ParleyError('UNAUTHORIZED', `${where} refuses the user or the password: ${textOf(error)}`);
    case '3D000':
      return new ParleyError('NOT_FOUND', `${where} has no such database; make it with createdb`);
    case '42501':
      return new ParleyError('FORBIDDEN', `${where} does not allow it: ${textOf(error)}`);
    default:
      return new ParleyError('UNAVAILABLE', `${where} cannot be reached: ${textOf(error)}`, {
        reason: UNREACHABLE,
        retry_after_ms: 1_000,
      });
  }
}

/** Stands in the details of an error where nobody answered. */
const UNREACHABLE = 'unreachable';

function placeOf(address: string): string {
  const { hostname, port, pathname, searchParams } = new URL(address);
  const host = hostname || searchParams.get('host') || 'localhost';
  return `${host}:${port || '5432'}${pathname}`;
}
