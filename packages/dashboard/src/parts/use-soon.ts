import { useEffect, useRef } from 'preact/hooks';

/**
 * Does something soon after what it depends on has changed, once for all that changes meanwhile; further changes do not
 * put it off, or where much happens it would never be done. `about` names what it is done for: nothing is done any more
 * for one that was left.
 */
export function useSoon(work: () => void, ms: number, about: string, change: unknown): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, ms);
  }, [about, change]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [about],
  );
}
