import { readFileSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';
import { z } from 'zod';

const RegistryFile = z.object({ clients: z.array(z.string()), models: z.array(z.string()) });

/** The clients and models an operator knows, from the file the configuration names; undefined when it names none. */
export function readRegistry(path: string): z.output<typeof RegistryFile> | undefined {
  if (path === '') return undefined;
  try {
    return RegistryFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it must hold the lists clients and models' : String(error);
    throw new ParleyError('VALIDATION_ERROR', `presence.registry ${path} cannot be used: ${why}`);
  }
}
