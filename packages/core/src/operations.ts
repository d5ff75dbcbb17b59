import type { OperationName } from '@parley/protocol';

import type { Operation } from './operation.ts';
import type { Ports } from './ports.ts';
import { agentOperations } from './agents/operations.ts';
import { artifactOperations } from './artifacts/operations.ts';
import { approvalRuleOperations } from './asks/approval-rule-operations.ts';
import { askOperations } from './asks/operations.ts';
import { deviceOperations } from './devices/operations.ts';
import { serviceOperations } from './envelope/operations.ts';
import { getSlo } from './envelope/slo-operation.ts';
import { evidenceOperations } from './evidence/operations.ts';
import { hubOperations } from './hub-operations.ts';
import { importDocuments } from './knowledge/import-operation.ts';
import { documentOperations } from './knowledge/operations.ts';
import { promoteThread } from './knowledge/promote-operation.ts';
import { queryKnowledge } from './knowledge/query-operation.ts';
import { documentReads } from './knowledge/read-operations.ts';
import { messageOperations } from './messages/operations.ts';
import { channelOperations } from './notify/operations.ts';
import { participationOperations } from './participation/operations.ts';
import { passkeyOperations } from './passkeys/operations.ts';
import { queueOperations } from './queue/operations.ts';
import { sessionOperations } from './sessions/operations.ts';
import { threadOperations } from './threads/operations.ts';
import { usageOperations } from './usage/operations.ts';
import { wakeOperations } from './wake/operations.ts';

/** The table of operations: what each contract does. */
export const OPERATIONS: { [N in OperationName]: Operation<N, Ports> } = {
  ...hubOperations,
  ...threadOperations,
  ...messageOperations,
  ...sessionOperations,
  ...wakeOperations,
  ...evidenceOperations,
  ...participationOperations,
  ...agentOperations,
  ...usageOperations,
  ...askOperations,
  ...documentOperations,
  promote_thread: promoteThread,
  ...documentReads,
  import_documents: importDocuments,
  query_knowledge: queryKnowledge,
  ...artifactOperations,
  ...serviceOperations,
  ...queueOperations,
  ...deviceOperations,
  ...approvalRuleOperations,
  ...passkeyOperations,
  ...channelOperations,
  get_slo: getSlo,
};
