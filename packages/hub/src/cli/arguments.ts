import { InvalidArgumentError } from 'commander';

/** Reads a count from the command line. */
export const wholeNumber = countWithin(0);

/** Reads a number of things, of which there is one at least. */
export const count = countWithin(1);

/** Reads a count that must lie within bounds. */
export function countWithin(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const given = /^\d+$/.test(text) ? Number(text) : -1;
    if (given >= least && given <= most) return given;
    const range =
      most === Number.MAX_SAFE_INTEGER && given < least ? `${least} or more` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
  };
}

/** Reads names that are separated by commas. */
export function commaList(text: string): string[] {
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}
