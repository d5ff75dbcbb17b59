/** The model's process in development: it has to register tsx by itself to run TypeScript. */
import { register } from 'tsx/esm/api';

register();
await import('./model-process.ts');
