/** Writes what the Python client has from the OpenAPI document. */
import { writeFileSync } from 'node:fs';

import { pythonOperations } from './python-operations.ts';

writeFileSync(new URL('../clients/python/parley/operations.py', import.meta.url), pythonOperations());
