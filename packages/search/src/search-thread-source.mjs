/** The search's thread in development: a worker has to register tsx by itself to run TypeScript. */
import { register } from 'tsx/esm/api';

register();
await import('./search-thread.ts');
