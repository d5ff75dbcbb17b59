import type * as Start from './start.ts';

/**
 * Loads what makes a hub, in pieces: Node opens all files of a piece at once, and a machine may have few descriptors to
 * spare.
 */
export async function loadStart(): Promise<typeof Start> {
  await import('./start-record.ts');
  await import('./start-faces.ts');
  return import('./start.ts');
}
