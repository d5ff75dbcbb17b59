import type { RunSettings } from '../config/run-settings.ts';
import { readTokenFile } from './token-file.ts';

/** Where the token of each call comes from; it never stands on a command line. */
export interface TokenSource {
  get(): Promise<string>;
  /** Called when a token was refused; false when there is no other one to be had. */
  refused(): boolean;
}

/** A token that someone else has issued; a file is read anew each time, so that it can be replaced. */
export function givenToken(token: string | undefined, file: string | undefined): TokenSource | undefined {
  if (file !== undefined) return { get: async () => readTokenFile(file), refused: () => false };
  if (token !== undefined) return { get: async () => token, refused: () => false };
  return undefined;
}

export interface Identity {
  agent_id: string | undefined;
  workspace_id: string;
  role: string;
  session_id: string | undefined;
}

/** Tokens for an identity, whose name may be known only later. */
export type TokensOf = (
  config: RunSettings['config'],
  identity: Identity,
  clientName: () => string | undefined,
) => TokenSource;
