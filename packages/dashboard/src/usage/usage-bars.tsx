import type { UsageSum } from '@parley/protocol';

import { costWords, isUntold, tokensOf, tokenWords } from './usage-words.ts';

/** One line of a sum, with its name and where that leads. */
export type NamedUsage = UsageSum & { name: string; href?: string };

/** A bar a line: what was read anew, what came from a cache, what was written; the longest is the most. */
export function UsageBars({ rows }: { rows: readonly NamedUsage[] }) {
  const most = Math.max(1, ...rows.map(tokensOf));
  return (
    <>
      <svg class="timeline-patterns" width="0" height="0" aria-hidden="true">
        <pattern
          id="usage-cached"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <path class="pattern-cached" d="M0 3H6" />
        </pattern>
      </svg>
      <ul class="usage-bars">
        {rows.map((row) => (
          <li key={row.href ?? row.name}>
            <span class="usage-name">
              {row.href === undefined ? row.name : <a href={row.href}>{row.name}</a>}
            </span>
            {isUntold(row) ? null : <Bar row={row} most={most} />}
            <span class="meta usage-words">
              {isUntold(row)
                ? 'tokens not reported'
                : `${tokenWords(row.input_tokens)} in (${tokenWords(row.cached_input_tokens)} cached), ${tokenWords(row.output_tokens)} out`}
              {' · '}
              {costWords(row)}
            </span>
          </li>
        ))}
      </ul>
      <ul class="timeline-legend">
        {(['fresh', 'cached', 'output'] as const).map((part) => (
          <li key={part}>
            <svg width="26" height="44" aria-hidden="true">
              <Piece part={part} x={0} width={1} />
            </svg>
            {WORDS[part]}
          </li>
        ))}
      </ul>
    </>
  );
}

const WORDS = { fresh: 'Read', cached: 'Read from a cache', output: 'Written' } as const;

function Bar({ row, most }: { row: NamedUsage; most: number }) {
  const { input_tokens, cached_input_tokens, output_tokens } = row;
  const fresh = Math.max(0, input_tokens - cached_input_tokens) / most;
  const cached = cached_input_tokens / most;
  return (
    <svg class="usage-bar" aria-hidden="true">
      <Piece part="fresh" x={0} width={fresh} />
      <Piece part="cached" x={fresh} width={cached} />
      <Piece part="output" x={fresh + cached} width={output_tokens / most} />
    </svg>
  );
}

function Piece({ part, x, width }: { part: keyof typeof WORDS; x: number; width: number }) {
  const box = { x: percent(x), width: percent(width), y: 12, height: 20 };
  return (
    <>
      <rect class={`usage-${part}`} {...box} />
      {part === 'cached' ? <rect {...box} fill="url(#usage-cached)" /> : null}
    </>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
