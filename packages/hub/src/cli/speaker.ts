import { ParleyError, fieldsOf } from '@parley/protocol';

import { readTokenFile } from '../auth/token-file.ts';

/** As whom a command speaks, and what said so. */
export interface Speaker {
  agent_id: string;
  role: string;
  workspace_id: string;
  /** What made it so, in the words of the person: a variable, a flag, or the key of the data folder. */
  by: string;
}

/** The token that a command was given, and what gave it: the file that the flag names goes first, then the variables. */
export function tokenGiven(
  flag: string | undefined,
  { PARLEY_TOKEN, PARLEY_TOKEN_FILE }: NodeJS.ProcessEnv,
): { token: string; by: string } | undefined {
  const given =
    flag !== undefined
      ? { by: '--token-file', token: readTokenFile(flag) }
      : PARLEY_TOKEN
        ? { by: 'PARLEY_TOKEN', token: PARLEY_TOKEN }
        : PARLEY_TOKEN_FILE
          ? { by: 'PARLEY_TOKEN_FILE', token: readTokenFile(PARLEY_TOKEN_FILE) }
          : undefined;
  const token = given?.token.trim() ?? '';
  return given === undefined || token === '' ? undefined : { ...given, token };
}

/** Whom a token names. Nothing is verified here: it is for the person to read, and decides nothing. */
export function speakerOf(token: string, by: string): Speaker | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { agent_id, role, workspace_id } = fieldsOf(claims);
    if (typeof agent_id !== 'string' || typeof role !== 'string' || typeof workspace_id !== 'string')
      return undefined;
    return { agent_id, role, workspace_id, by };
  } catch {
    return undefined;
  }
}

/** One sentence for a person who may have forgotten it. */
export function describeSpeaker({ agent_id, role, workspace_id, by }: Speaker): string {
  return `you speak as ${agent_id} (${role} in ${workspace_id}), because of ${by}`;
}

const EXPLAINED: ReadonlySet<string> = new Set(['INSUFFICIENT_AUTHORITY', 'UNAUTHORIZED', 'FORBIDDEN']);

/** A refusal of what a given token may not do names what made the person speak with it. */
export function explainRefusal(error: unknown, argv: readonly string[], env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof ParleyError) || !EXPLAINED.has(error.code)) return error;
  const flag = argv.indexOf('--token-file');
  try {
    const given = tokenGiven(flag < 0 ? undefined : argv[flag + 1], env);
    const speaker = given && speakerOf(given.token, given.by);
    if (speaker !== undefined) error.message += `; ${describeSpeaker(speaker)}`;
  } catch {
    // The file of the token cannot be read: the error says so itself.
  }
  return error;
}
