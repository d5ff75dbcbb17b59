/** The smaller pages that nobody needs at once: they come together. */
export { AgentPage } from './agent.tsx';
export { LogPage } from './log.tsx';
export { SearchPage } from './search.tsx';
export { Peek } from '../parts/peek.tsx';
export { SystemPage } from './system.tsx';
export { TimelinePage } from '../timeline/timeline-page.tsx';
export { UsagePage } from '../usage/usage-page.tsx';
