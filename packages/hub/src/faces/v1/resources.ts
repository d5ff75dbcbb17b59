import { CONTRACTS, type OperationName } from '@parley/protocol';

interface Match {
  name: OperationName;
  fields: Record<string, string>;
}

/** Finds the operation behind a resource-style path, such as /v1/threads/{thread_id}/messages. */
export function createResourceRoutes(): (path: string) => Match | undefined {
  const routes = Object.values(CONTRACTS).flatMap((contract) => {
    if (!('http' in contract)) return [];
    // The table of contracts is that of the operations.
    return [{ name: contract.name as OperationName, parts: contract.http.path.split('/') }];
  });
  return (path) => {
    const parts = path.split('/');
    for (const route of routes) {
      const fields = matchParts(route.parts, parts);
      if (fields !== undefined) return { name: route.name, fields };
    }
    return undefined;
  };
}

function matchParts(
  pattern: readonly string[],
  parts: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const fields: Record<string, string> = {};
  for (const [i, want] of pattern.entries()) {
    const have = parts[i] ?? '';
    const field = /^\{(\w+)\}$/.exec(want)?.[1];
    if (field === undefined && want !== have) return undefined;
    if (field !== undefined) fields[field] = decodePart(have);
  }
  return fields;
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
