const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** A length of time as people say it, to its largest unit. */
export function span(ms: number): string {
  const rest = Math.max(0, ms);
  for (const [name, size] of UNITS) if (rest >= size) return `${Math.floor(rest / size)} ${name}`;
  return `${Math.floor(rest / 1_000)} s`;
}

/** How long ago a moment was. */
export function ago(iso: string, now = Date.now()): string {
  return span(now - Date.parse(iso));
}
