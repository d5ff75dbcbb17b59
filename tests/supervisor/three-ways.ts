import { freshPath } from '../cli/parley.ts';
import { supervised } from './person.ts';

export const WAYS = ['plain', 'script', 'parley'] as const;
export type Way = (typeof WAYS)[number];

/** The words that start a program under script(1). */
export function underScript(program: readonly string[]): string[] {
  const quoted = program.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  return ['script', '-qec', `exec ${quoted}`, '/dev/null'];
}

/** The same program plainly, under script(1) and under the supervisor. */
export function wordsOf(way: Way, program: readonly string[]): string[] {
  if (way === 'plain') return [...program];
  return way === 'script' ? underScript(program) : supervised([...program], ['--data', freshPath()]);
}
