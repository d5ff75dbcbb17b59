/** Writes docs/reference from the contracts and the tables of the command lines. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

import { referencePages } from './reference/pages.ts';

const folder = new URL('../docs/reference/', import.meta.url);
mkdirSync(folder, { recursive: true });
const pages = await referencePages();
for (const name of readdirSync(folder)) if (!Object.hasOwn(pages, name)) rmSync(new URL(name, folder));
for (const [name, text] of Object.entries(pages)) writeFileSync(new URL(name, folder), text);
