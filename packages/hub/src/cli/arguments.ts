import { InvalidArgumentError } from 'commander';

/** Reads a count from the command line. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Reads a count that must lie within bounds. */
export function countWithin(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = wholeNumber(text);
    if (count < least || count > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return count;
  };
}

/** Reads names that are separated by commas. */
export function commaList(text: string): string[] {
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}
