import { expect } from 'vitest';

import { freshFolder, type HubOptions, type HubProcess, startNode } from './hub-process.ts';
import { startNodes } from './start-nodes.ts';
import { onPostgres } from './store-profile.ts';
import { isSingle } from '../single-node.ts';

export {
  cleanEnv,
  freshFolder,
  type HubOptions,
  type HubProcess,
  HubRefused,
  PARLEY,
} from './hub-process.ts';

/** What says where a hub listens or keeps its record: such a hub is the one that the test has in mind. */
const OWN_WAY = ['--store', '--host', '--lan'];

/** Starts a hub on a free port: one process, or on the profile of several nodes three behind one address. */
export function startHub(options: HubOptions = {}): Promise<HubProcess> {
  const { data = freshFolder(), flags = [], wrapper = [] } = options;
  const isPlain = wrapper.length === 0 && !flags.some((flag) => OWN_WAY.includes(flag));
  const { testPath = '', currentTestName = '' } = expect.getState();
  const several = onPostgres && isPlain && !isSingle(testPath, currentTestName);
  return several ? startNodes({ ...options, data }) : startNode({ ...options, data });
}
