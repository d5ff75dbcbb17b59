import { useEffect, useState } from 'preact/hooks';

import { createSoon } from '../soon.ts';

/** Does something soon after a change, once for all that changes meanwhile; nothing any more for one that was left. */
export function useSoon(work: () => void, ms: number, about: string, change: unknown): void {
  const [soon] = useState(() => createSoon(ms));
  useEffect(() => soon.ask(work), [about, change]);
  useEffect(() => () => soon.stop(), [about]);
}
