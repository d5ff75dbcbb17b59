import type { Claims } from '@parley/protocol';

/** One exchange that is not over. */
interface OpenExchange {
  claims: Claims;
  ending: AbortController;
  /** A stream without an end of its own, as against a call. */
  lasting: boolean;
}

/** The exchanges that are not over: each is ended soon after its token has ceased to be good. */
export interface OpenExchanges {
  /** Takes an exchange on record; the returned function takes it off. */
  enter(exchange: OpenExchange): () => void;
  /** Ends the streams; running calls may finish. */
  close(): void;
}

/** Looks at every open exchange again and again; `recheck` throws when claims no longer hold. */
export function createOpenExchanges(recheck: (claims: Claims) => void, everyMs: number): OpenExchanges {
  const open = new Set<OpenExchange>();
  const timer = setInterval(() => {
    for (const { claims, ending } of open) {
      try {
        recheck(claims);
      } catch {
        ending.abort();
      }
    }
  }, everyMs);
  timer.unref();
  return {
    enter(exchange) {
      open.add(exchange);
      return () => open.delete(exchange);
    },
    close() {
      clearInterval(timer);
      for (const { ending, lasting } of open) if (lasting) ending.abort();
    },
  };
}
