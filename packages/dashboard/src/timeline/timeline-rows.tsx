import type { AgentStretch } from '@parley/protocol';
import type { Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Avatar } from '../parts/avatar.tsx';
import { clockTime } from '../time.ts';
import { STATE_WORDS, STATES } from '../words.ts';
import { StretchSheet } from './stretch-sheet.tsx';
import { type History, lasting, marks, nearest, place, type Range, totals } from './window.ts';

type State = AgentStretch['state'];

/** The room that a letter takes, and what a word keeps to the edge, in pixels. */
const LETTER = 7.2;
const EDGE = 7;
const DAY_MS = 86_400_000;
/** From here on the axis says now. */
const NOW_SHARE = 0.92;

/** A row an agent: coloured and patterned stretches on one line of time, and what was at one moment by a tap. */
export function TimelineRows({
  range,
  histories,
  step,
}: {
  range: Range;
  histories: readonly History[];
  step: number;
}) {
  const [open, show] = useState<{ agent: string; since: string } | undefined>();
  const axis = useRef<SVGSVGElement>(null);
  const [room, measure] = useState(0);
  useEffect(() => {
    const look = (): void => measure(axis.current?.clientWidth ?? 0);
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  const looked = histories.find(({ agent_id }) => agent_id === open?.agent);
  return (
    <div class="timeline">
      <Axis box={axis} range={range} step={step} />
      {histories.map(({ agent_id, stretches }) => (
        <Row
          key={agent_id}
          agent={agent_id}
          stretches={stretches}
          range={range}
          step={step}
          room={room}
          onPick={(since) => show({ agent: agent_id, since })}
        />
      ))}
      {open === undefined || looked === undefined ? null : (
        <StretchSheet
          agent={looked.agent_id}
          stretches={looked.stretches}
          since={open.since}
          onMove={(since) => show({ ...open, since })}
          onClose={() => show(undefined)}
        />
      )}
    </div>
  );
}

const days = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });

function Axis({ box, range, step }: { box: Ref<SVGSVGElement>; range: Range; step: number }) {
  const word = (at: number): string =>
    step >= DAY_MS ? days.format(new Date(at)) : clockTime(new Date(at).toISOString());
  return (
    <svg ref={box} class="timeline-axis" aria-hidden="true">
      {marks(range, step)
        .filter(({ x }) => x < NOW_SHARE)
        .map(({ at, x }, i) => (
          <text key={at} x={percent(x)} y="16" class={i % 2 === 1 ? 'axis-word axis-second' : 'axis-word'}>
            {word(at)}
          </text>
        ))}
      <text x="100%" y="16" class="axis-word axis-now">
        now
      </text>
    </svg>
  );
}

function Row({
  agent,
  stretches,
  range,
  step,
  room,
  onPick,
}: {
  agent: string;
  stretches: readonly AgentStretch[];
  range: Range;
  step: number;
  /** How wide the line of time is, in pixels. */
  room: number;
  onPick: (since: string) => void;
}) {
  const placed = place(stretches, range);
  const pick = (event: MouseEvent & { currentTarget: Element }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    // A key has no place: it opens what the agent is at now.
    const x = event.detail === 0 ? 1 : (event.clientX - left) / width;
    const found = nearest(placed, x);
    if (found !== undefined) onPick(found.stretch.since);
  };
  return (
    <div class="timeline-row" data-agent={agent}>
      <a class="timeline-name" href={`/agents/${encodeURIComponent(agent)}`}>
        <Avatar name={agent} size="s" />
        <span>{agent}</span>
      </a>
      <div class="timeline-track">
        <svg aria-hidden="true">
          {marks(range, step).map(({ at, x }) => (
            <line key={at} class="timeline-mark" x1={percent(x)} x2={percent(x)} y1="0" y2="100%" />
          ))}
          {placed.map(({ stretch: { since, state }, x, width }) => (
            <Bar
              key={since}
              state={state}
              x={x}
              width={width}
              word={state !== 'offline' && width * room >= STATE_WORDS[state].length * LETTER + 2 * EDGE}
            />
          ))}
        </svg>
        <button
          type="button"
          class="timeline-pick"
          aria-label={`${agent}: ${summary(stretches, range)}`}
          onClick={pick}
        />
      </div>
    </div>
  );
}

function Bar({ state, x, width, word }: { state: State; x: number; width: number; word: boolean }) {
  const [y, height] = SHAPES[state];
  return (
    <svg class={`stretch stretch-${state}`} x={percent(x)} width={percent(width)} height="44">
      <rect class="stretch-fill" x="0" width="100%" y={y} height={height} />
      {state in PATTERN_LINES ? (
        <rect x="0" width="100%" y={y} height={height} fill={`url(#stretch-${state})`} />
      ) : null}
      {word ? (
        <text x={EDGE} y="26">
          {STATE_WORDS[state]}
        </text>
      ) : null}
    </svg>
  );
}

/** What concerns a person stands tall; rest is low, absence a line: no colour is needed to tell them apart. */
const SHAPES: Record<State, readonly [y: number, height: number]> = {
  needs_you: [4, 36],
  stuck: [4, 36],
  error: [4, 36],
  working: [8, 28],
  idle: [15, 14],
  offline: [21, 2],
};

/** The line that a pattern repeats, and how far it is turned. */
const PATTERN_LINES: Partial<Record<State, readonly [path: string, turn: number]>> = {
  needs_you: ['M0 4H8', 135],
  stuck: ['M4 0V8', 0],
  error: ['M0 4H8M4 0V8', 45],
};

/** The patterns that the bars are filled with; they stand in the page once. */
export function Patterns() {
  return (
    <svg class="timeline-patterns" width="0" height="0" aria-hidden="true">
      {Object.entries(PATTERN_LINES).map(([state, [path, turn]]) => (
        <pattern
          key={state}
          id={`stretch-${state}`}
          width="8"
          height="8"
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${turn})`}
        >
          <path class={`pattern-${state}`} d={path} />
        </pattern>
      ))}
    </svg>
  );
}

/** What each pattern stands for. */
export function Legend() {
  return (
    <ul class="timeline-legend">
      {STATES.map((state) => (
        <li key={state}>
          <svg class="legend-sign" width="26" height="44" aria-hidden="true">
            <Bar state={state} x={0} width={1} word={false} />
          </svg>
          {STATE_WORDS[state]}
        </li>
      ))}
      <li>
        <svg class="legend-sign" width="26" height="44" aria-hidden="true">
          <rect class="legend-empty" x="0.5" y="8.5" width="25" height="27" />
        </svg>
        Empty: the hub did not run, or did not know the agent
      </li>
    </ul>
  );
}

function summary(stretches: readonly AgentStretch[], range: Range): string {
  const spent = totals(stretches, range);
  const words = STATES.flatMap((state) => {
    const ms = spent[state];
    return ms === undefined ? [] : [`${STATE_WORDS[state].toLowerCase()} ${lasting(ms)}`];
  });
  return `${words.join(', ')}. Open what it is at now`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
