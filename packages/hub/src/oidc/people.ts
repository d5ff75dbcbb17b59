import {
  accountOf,
  type Chance,
  type Clock,
  commandHead,
  hubCaller,
  type Log,
  type PersonGrant,
  type PersonRecord,
  type Store,
} from '@parley/core';

/** The accounts of an issuer as this hub knows them: whose name is whose, and who was signed out. */
export interface People {
  /** Gives an account its name in a workspace; throws CONFLICT where it is somebody else's. */
  bind(grant: PersonGrant, named: boolean): Promise<void>;
  /** Looks up whether what an issuer said of an account still counts. */
  look(grant: PersonGrant): Promise<'good' | 'ended' | 'another' | 'unknown'>;
  /** True once an account was signed out after the issuer gave its word; as of the last look, which it renews. */
  ended(grant: PersonGrant): boolean;
  /** Signs an account out of every workspace: its devices and tokens end. */
  end(account: Account): Promise<void>;
  /** Reads what is known, so that nobody who was signed out is taken for one who is not. */
  load(): Promise<void>;
}

type Account = Pick<PersonGrant, 'issuer' | 'subject'>;

export interface PeopleOptions {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  issuer: string;
  onFault: (error: unknown) => void;
}

interface Known {
  account: string;
  endedAt: number;
  /** Monotonic moment of the last look into the store. */
  looked: number;
}

/** How long a look into the store holds for what is not a request of its own. */
const LOOK_AGAIN_MS = 1_000;

const PAGE = 500;

/** Keeps people as records beside the log; there are as many as accounts that ever came. */
export function createPeople(options: PeopleOptions): People {
  const { store, log, clock, issuer, onFault } = options;
  const knownByName = new Map<string, Known>();
  const keyOf = (workspaceId: string, name: string): string => `${workspaceId} ${name}`;

  function note(person: PersonRecord): void {
    const { workspace_id, agent_id, ended_at } = person;
    const endedAt = ended_at === undefined ? 0 : Date.parse(ended_at);
    const known = { account: accountOf(person), endedAt, looked: clock.monotonic() };
    knownByName.set(keyOf(workspace_id, agent_id), known);
  }

  async function lookAt({ workspace_id, name }: PersonGrant): Promise<void> {
    const query = { kind: 'person', workspace_id, keys: [name], limit: 1 } as const;
    for (const person of await store.records(query)) note(person);
  }

  const knownOf = ({ workspace_id, name }: PersonGrant): Known | undefined =>
    knownByName.get(keyOf(workspace_id, name));

  function isEnded(grant: PersonGrant): boolean {
    const known = knownOf(grant);
    if (grant.issuer !== issuer || known === undefined) return grant.issuer !== issuer;
    return known.account !== accountOf(grant) || known.endedAt >= Date.parse(grant.since);
  }

  return {
    async bind(grant, named) {
      const { name: agent_id, issuer: from, subject } = grant;
      const head = commandHead(options, hubCaller(grant.workspace_id));
      const input = { agent_id, issuer: from, subject, named };
      const { result } = await log.append({ type: 'bind_person', ...head, input });
      note(result.person);
    },
    async look(grant) {
      await lookAt(grant);
      const known = knownOf(grant);
      if (known === undefined) return 'unknown';
      if (known.account !== accountOf(grant)) return 'another';
      return isEnded(grant) ? 'ended' : 'good';
    },
    ended(grant) {
      const known = knownOf(grant);
      if (known !== undefined && clock.monotonic() - known.looked >= LOOK_AGAIN_MS) {
        known.looked = clock.monotonic();
        lookAt(grant).catch(onFault);
      }
      return isEnded(grant);
    },
    async end({ issuer: from, subject }) {
      const owner = accountOf({ issuer: from, subject });
      const query = { kind: 'person', workspace_id: undefined, owner, limit: PAGE } as const;
      const found = await store.records(query);
      for (const workspaceId of new Set(found.map(({ workspace_id }) => workspace_id))) {
        const head = commandHead(options, hubCaller(workspaceId));
        await log.append({ type: 'end_person', ...head, input: { issuer: from, subject } });
      }
      for (const person of await store.records(query)) note(person);
    },
    async load() {
      let after: { workspace_id: string; key: string } | undefined;
      for (;;) {
        const query = { kind: 'person', workspace_id: undefined, limit: PAGE } as const;
        const found = await store.records({ ...query, ...(after === undefined ? {} : { after }) });
        for (const person of found) note(person);
        const last = found.at(-1);
        if (last === undefined || found.length < PAGE) return;
        after = { workspace_id: last.workspace_id, key: last.agent_id };
      }
    },
  };
}
