import { useEffect, useRef } from 'preact/hooks';

import { go } from '../router.ts';

/** Filters of a list, kept in the address so that going back finds them again. */
export function Segments({
  path,
  value,
  options,
  label,
}: {
  path: string;
  value: string;
  options: readonly (readonly [string, string, number?])[];
  label: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current
      ?.querySelector('[aria-pressed="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [value]);
  return (
    <div ref={box} class="segments" role="group" aria-label={label}>
      {options.map(([key, word, count]) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === value}
          onClick={() =>
            go(key === '' ? path : `${path}${path.includes('?') ? '&' : '?'}f=${key}`, 'replace')
          }
        >
          {word}
          {count === undefined || count === 0 ? null : (
            <span class="segment-count">{count.toLocaleString()}</span>
          )}
        </button>
      ))}
    </div>
  );
}
