import { hubNow } from './data/api.ts';
import { tick } from './data/state.ts';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A length of time as people say it, to its largest unit. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  for (const [name, size] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)} ${name}`;
  return seconds < 5 ? 'now' : `${seconds} s`;
}

/** How long ago a moment of the hub was; moves with time. */
export function ago(moment: string): string {
  void tick.value;
  return span(hubNow() - Date.parse(moment));
}

/** The same as a phrase that stands by itself: “just now”, “4 min ago”. */
export function agoWords(moment: string): string {
  const text = ago(moment);
  return text === 'now' ? 'just now' : `${text} ago`;
}

/** What is left until a moment of the hub, as a clock shows it; moves with time. */
export function left(moment: string): { text: string; ms: number } {
  void tick.value;
  const ms = Math.max(0, Date.parse(moment) - hubNow());
  const seconds = Math.ceil(ms / 1_000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return { ms, text: hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}` };
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'long', day: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const clockTime = (moment: string): string => clock.format(new Date(moment));
const short = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** A moment as people tell it: the time alone says which day only while it is today. */
export function whenTime(moment: string): string {
  const at = new Date(moment);
  return at.toDateString() === new Date(hubNow()).toDateString() ? clock.format(at) : short.format(at);
}

export const dayName = (moment: string): string => day.format(new Date(moment));
export const fullTime = (moment: string): string => full.format(new Date(moment));
