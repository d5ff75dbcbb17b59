import { readFileSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';
import { parse } from 'yaml';
import * as z from 'zod';

/** A list of names, or an object whose keys they are. */
const Names = z.union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)]);

const RegistryFile = z.object({ clients: Names, models: Names });

/** The clients and models an operator knows, from the YAML (or JSON, which is YAML too) that the configuration names; undefined when it names none. */
export function readRegistry(path: string): z.output<typeof RegistryFile> | undefined {
  if (path === '') return undefined;
  try {
    return RegistryFile.parse(parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it must hold the lists clients and models' : String(error);
    throw new ParleyError('VALIDATION_ERROR', `presence.registry ${path} cannot be used: ${why}`);
  }
}
