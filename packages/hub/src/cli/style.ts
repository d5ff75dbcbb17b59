import { styleText } from 'node:util';

import type { Command } from 'commander';

type Format = Parameters<typeof styleText>[0];

/** Paints a text, or leaves it as it is. */
export type Paint = (format: Format, text: string) => string;

const plain: Paint = (_format, text) => text;
const coloured: Paint = (format, text) => styleText(format, text, { validateStream: false });

/** Colour for a person at a terminal, plain text for everything else and for who asked for it. */
export function painter(command: Command): Paint {
  const { color } = command.optsWithGlobals<{ color?: boolean }>();
  const { NO_COLOR, TERM } = process.env;
  const wanted = color !== false && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
  return wanted && process.stdout.isTTY ? coloured : plain;
}
