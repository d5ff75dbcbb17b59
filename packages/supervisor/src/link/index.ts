export { openSessionLink, type SessionLink } from './session-link.ts';
export { type Report, reporting } from './reporting.ts';
export { retry } from './retry.ts';
