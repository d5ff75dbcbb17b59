/** Writes what the TypeScript client knows of the operations without their schemas. */
import { writeFileSync } from 'node:fs';

import { callFacts } from './call-facts.ts';

writeFileSync(new URL('../packages/protocol/src/call-facts.ts', import.meta.url), callFacts());
