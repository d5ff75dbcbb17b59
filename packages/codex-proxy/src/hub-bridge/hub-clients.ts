import { errorStatus, errorCode, errorText } from '@parley/protocol';
import type { Client } from '@parley/client';

import type { HubAccess } from '../hub-link/hub-access.ts';
import { retry } from '@parley/supervisor/link';

/** The agents of the team as they speak and listen at the hub, each by a token of its own. */
export interface HubClients {
  /** Does something under a name, and goes on trying while the hub is away; throws what the hub refuses. */
  as<T>(name: string, run: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface HubClientsDeps {
  access: HubAccess;
  /** Hears why a name cannot speak now; undefined as soon as it can. */
  onProblem: (name: string, reason: string | undefined) => void;
  stopping: AbortSignal;
}

/** How long one try may take, and all tries of a call before the hub counts as away. */
const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 2_000;

/** Only names that the team's own rule makes may be given here: a hub of this machine has a token for any. */
export function createHubClients({ access, onProblem, stopping }: HubClientsDeps): HubClients {
  const clientByName = new Map<string, Client>();

  async function clientOf(name: string): Promise<Client> {
    const { createClient } = await import('@parley/client');
    const known = clientByName.get(name);
    if (known !== undefined) return known;
    const client = createClient({
      url: () => access.url(),
      token: () => access.token(name, sessionOf(name)),
      timeoutMs: TIMEOUT_MS,
      patienceMs: PATIENCE_MS,
    });
    clientByName.set(name, client);
    return client;
  }

  return {
    async as(name, run, signal = stopping) {
      let refusal: unknown;
      const done = await retry(
        async () => {
          // Without these there is nothing to be patient about.
          access.url();
          await access.token(name, sessionOf(name));
          const result = await run(await clientOf(name));
          onProblem(name, undefined);
          return { result };
        },
        (error) => {
          if (signal.aborted) return 'give_up';
          const status = errorStatus(error) ?? 0;
          const [code, message] = [errorCode(error), errorText(error)];
          if (status === 401) access.renew(sessionOf(name));
          if (status < 400 || status === 401 || status >= 500 || code === 'RATE_LIMITED') {
            onProblem(name, message);
            return 'again';
          }
          refusal = error;
          return 'give_up';
        },
        signal,
      );
      if (done !== undefined) return done.result;
      throw refusal ?? new Stopped();
    },
  };
}

/** The bridge, or the part of it that asked, is to end. */
export class Stopped extends Error {}

function sessionOf(name: string): string {
  return `bridge:${name}`;
}
