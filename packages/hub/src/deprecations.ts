import type { IncomingHttpHeaders } from 'node:http';

import { isOperation, type LiveEnding, type OperationName } from '@parley/protocol';

/** An operation that is to end, as it is configured. */
export interface Ending {
  operation: OperationName;
  announced_at: string;
  ends_at: string;
  use?: string | undefined;
}

/** Which operations are to end, and how that is told. */
export interface Deprecations {
  of(operation: OperationName): Ending | undefined;
  /** The headers that go with every answer of it. */
  headers(operation: OperationName): Record<string, string> | undefined;
  /** What stands in the answers of `/ws`, where there are no headers. */
  live(operation: OperationName): LiveEnding | undefined;
  /** All of them in the words of `/ws`. */
  readonly allLive: readonly LiveEnding[];
}

/** Tells of the operations that are to end; they are answered as before until the release that drops them. */
export function createDeprecations(endings: readonly Ending[]): Deprecations {
  const byName = new Map<string, { ending: Ending; headers: Record<string, string>; live: LiveEnding }>();
  for (const ending of endings) {
    const headers = {
      deprecation: `@${Math.floor(Date.parse(ending.announced_at) / 1_000)}`,
      sunset: new Date(ending.ends_at).toUTCString(),
      ...(ending.use !== undefined && isOperation(ending.use)
        ? { link: `</v1/${ending.use}>; rel="successor-version"` }
        : {}),
    };
    byName.set(ending.operation, { ending, headers, live: toLive(ending) });
  }
  return {
    of: (operation) => byName.get(operation)?.ending,
    headers: (operation) => byName.get(operation)?.headers,
    live: (operation) => byName.get(operation)?.live,
    allLive: [...byName.values()].map(({ live }) => live),
  };
}

function toLive({ announced_at: announcedAt, ends_at: endsAt, ...rest }: Ending): LiveEnding {
  return { ...rest, announcedAt, endsAt };
}

/** What the headers of an answer say of the end of its operation: the other way round. */
export function readEnding(operation: OperationName, headers: IncomingHttpHeaders): Ending | undefined {
  const { deprecation, sunset = '', link = '' } = headers;
  const [, since] = /^@(\d+)$/.exec(String(deprecation)) ?? [];
  const until = Date.parse(String(sunset));
  if (since === undefined || Number.isNaN(until)) return undefined;
  const [, use] = /^<\/v1\/(\w+)>; rel="successor-version"$/.exec(String(link)) ?? [];
  return {
    operation,
    announced_at: new Date(Number(since) * 1_000).toISOString(),
    ends_at: new Date(until).toISOString(),
    ...(use === undefined ? {} : { use }),
  };
}
