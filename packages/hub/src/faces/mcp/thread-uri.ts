/** The template under which clients find threads. */
export const THREAD_URI_TEMPLATE = 'parley://threads/{thread_id}';

const PREFIX = 'parley://threads/';

/** The resource that stands for a thread. */
export function threadUri(threadId: string): string {
  return PREFIX + encodeURIComponent(threadId);
}

/** The thread a resource stands for; undefined for any other resource. */
export function threadOfUri(uri: string): string | undefined {
  const match = /^parley:\/\/threads\/([A-Za-z0-9_%.~-]{1,400})$/.exec(uri);
  if (match?.[1] === undefined) return undefined;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return undefined;
  }
}
