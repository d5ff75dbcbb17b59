/** The wakes of one agent within the last hour that count against budgets: who asked, and when. */
export interface WakeTally {
  agent_id: string;
  wakes: { by: string; at: string }[];
}

/** How many wakes agents may ask for within an hour. */
export interface WakeBudget {
  pairPerHour: number;
  targetPerHour: number;
}

const HOUR_MS = 3_600_000;

/** The tally with one wake more, or undefined where the budget of the pair or of the target is used up. */
export function spend(
  tally: WakeTally | undefined,
  { by, target, now }: { by: string; target: string; now: number },
  { pairPerHour, targetPerHour }: WakeBudget,
): WakeTally | undefined {
  // After a jump of the clock backwards nothing counts for longer than an hour.
  const fresh = (tally?.wakes ?? [])
    .map((wake) => ({ by: wake.by, ms: Math.min(now, Date.parse(wake.at)) }))
    .filter(({ ms }) => ms > now - HOUR_MS);
  const ofPair = fresh.filter((wake) => wake.by === by).length;
  if (ofPair >= pairPerHour || fresh.length >= targetPerHour) return undefined;
  const wakes = [...fresh, { by, ms: now }].map(({ by: who, ms }) => ({
    by: who,
    at: new Date(ms).toISOString(),
  }));
  return { agent_id: target, wakes };
}
