import { readFileSync, statSync } from 'node:fs';

import { checkAddress, LOCAL_TOKEN_PATH, LocalToken, fieldsOf } from '@parley/protocol';

import type { LoadedConfig } from '../config/load.ts';
import { findHub } from './find-hub.ts';

/** Where the hub is now, and by what right an identity speaks there. */
export interface HubAccess {
  /** What is configured, for people to see. */
  place: string;
  /** Throws when there is none. */
  url(): string;
  token(identity: string, sessionId: string): Promise<string>;
  /** A token may have been refused: the next one is a fresh one. */
  renew(sessionId: string): void;
}

/** There may be a hub, but no right to speak there for this identity. */
export class AccessRefused extends Error {}

interface AccessSettings {
  /** The data folder of a hub on this machine. */
  data: string;
  url: string | null;
  tokenFile: string | null;
  workspace: string | null;
}

/** The access that a configuration means. */
export function accessOf({
  settings,
  paths,
  places,
}: Pick<LoadedConfig, 'settings' | 'paths' | 'places'>): HubAccess {
  return createHubAccess({
    data: paths.hub_data ?? places.hub,
    url: settings.hub_url,
    tokenFile: paths.hub_token_file,
    workspace: settings.hub_workspace,
  });
}

const MINT_MS = 5_000;

/** How much of a token's life is used before another is asked for. */
const USED = 0.9;

/** A hub of this user's own gives a token for each session; anywhere else each identity needs one of its own in a file. */
function createHubAccess({ data, url, tokenFile, workspace }: AccessSettings): HubAccess {
  const mintedBySession = new Map<string, { token: string; until: number }>();

  const local = () => {
    const hub = findHub(data);
    if (hub === undefined) throw new Error(`no hub runs on ${data}`);
    return hub;
  };

  async function mint(agent_id: string, session_id: string): Promise<string> {
    const known = mintedBySession.get(session_id);
    if (known !== undefined && known.until > Date.now()) return known.token;
    const hub = local();
    const response = await fetch(`${hub.url}${LOCAL_TOKEN_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.key ?? ''}` },
      body: JSON.stringify({
        agent_id,
        session_id,
        ...(workspace === null ? {} : { workspace_id: workspace }),
      }),
      redirect: 'error',
      signal: AbortSignal.timeout(MINT_MS),
    });
    if (!response.ok)
      throw new AccessRefused(`the hub gave no token for ${agent_id}: ${await reasonOf(response)}`);
    const { token, expires_at } = LocalToken.parse(await response.json());
    const until = Date.now() + (Date.parse(expires_at) - Date.now()) * USED;
    mintedBySession.set(session_id, { token, until });
    return token;
  }

  return {
    place: url ?? data,
    url() {
      if (url === null) return local().url;
      checkAddress(url);
      return url;
    },
    async token(identity, sessionId) {
      if (tokenFile !== null) return readToken(tokenFile.replaceAll('{identity}', identity), identity);
      if (url !== null && findHub(data)?.url !== url.replace(/\/+$/, ''))
        throw new AccessRefused('a hub at an address of its own needs hub_token_file');
      return mint(identity, sessionId);
    },
    renew: (sessionId) => void mintedBySession.delete(sessionId),
  };
}

/** Read anew each time, so that it can be replaced; a token of somebody else is not used, whatever it would open. */
function readToken(path: string, identity: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new AccessRefused(`the token file ${path} is not there`);
  if ((stat.mode & 0o077) !== 0)
    throw new AccessRefused(`others can read ${path}; close it with: chmod 600 ${path}`);
  const token = readFileSync(path, 'utf8').trim();
  if (agentOf(token) !== identity)
    throw new AccessRefused(
      `the token in ${path} is not for the agent '${identity}'; issue one with --agent ${identity}`,
    );
  return token;
}

/** Whom a token speaks for, unverified: the hub does that. */
function agentOf(token: string): unknown {
  try {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    return fieldsOf(JSON.parse(claims))['agent_id'];
  } catch {
    return undefined;
  }
}

async function reasonOf(response: Response): Promise<string> {
  const { error } = fieldsOf(await response.json().catch(() => undefined));
  const { message } = fieldsOf(error);
  return typeof message === 'string' ? message : `status ${response.status}`;
}
