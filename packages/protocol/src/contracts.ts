import type { z } from 'zod';

import type { Contract } from './contract.ts';
import { agentContracts } from './contracts-agents.ts';
import { approvalRuleContracts } from './contracts-approval-rules.ts';
import { artifactContracts } from './contracts-artifacts.ts';
import { askContracts } from './contracts-asks.ts';
import { channelContracts } from './contracts-channels.ts';
import { documentContracts } from './contracts-documents.ts';
import { messageContracts } from './contracts-messages.ts';
import { participationContracts } from './contracts-participation.ts';
import { passkeyContracts } from './contracts-passkeys.ts';
import { queueContracts } from './contracts-queue.ts';
import { registryContracts } from './contracts-registry.ts';
import { searchContracts } from './contracts-search.ts';
import { sessionContracts } from './contracts-sessions.ts';
import { sloContracts } from './contracts-slo.ts';
import { deskContracts, hubContracts } from './contracts-system.ts';
import { usageContracts } from './contracts-usage.ts';
import { threadContracts } from './contracts-threads.ts';

/** The contracts in the groups in which a reader finds them. */
export const CONTRACT_GROUPS = {
  hub: hubContracts,
  threads: { ...threadContracts, ...messageContracts },
  waking: sessionContracts,
  participation: participationContracts,
  agents: { ...agentContracts, ...usageContracts },
  asks: askContracts,
  documents: { ...documentContracts, ...searchContracts },
  artifacts: artifactContracts,
  services: { ...registryContracts, ...queueContracts, ...sloContracts },
  desk: { ...deskContracts, ...approvalRuleContracts, ...passkeyContracts, ...channelContracts },
} as const satisfies Record<string, Record<string, Contract>>;

/** Everything the hub can do, by name; the tools, the routes, the documents and the client come from this table. */
export const CONTRACTS = {
  ...CONTRACT_GROUPS.hub,
  ...CONTRACT_GROUPS.threads,
  ...CONTRACT_GROUPS.waking,
  ...CONTRACT_GROUPS.participation,
  ...CONTRACT_GROUPS.agents,
  ...CONTRACT_GROUPS.asks,
  ...CONTRACT_GROUPS.documents,
  ...CONTRACT_GROUPS.artifacts,
  ...CONTRACT_GROUPS.services,
  ...CONTRACT_GROUPS.desk,
} as const satisfies Record<string, Contract>;

export type OperationName = keyof typeof CONTRACTS;

/** What a caller may send: defaults may be left out. */
export type InputOf<N extends OperationName> = z.input<(typeof CONTRACTS)[N]['input']>;

/** What an operation works on: defaults filled in. */
export type ParsedInputOf<N extends OperationName> = z.output<(typeof CONTRACTS)[N]['input']>;

export type OutputOf<N extends OperationName> = z.output<(typeof CONTRACTS)[N]['output']>;

/** True for the name of an operation in the table. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(CONTRACTS, name);
}

/** Payload names that always mean the caller itself and must equal the verified claims. */
export const CALLER_FIELDS = {
  workspace_id: 'workspace_id',
  agent_id: 'agent_id',
  created_by: 'agent_id',
  sender_agent_id: 'agent_id',
  session_id: 'session_id',
  sender_session_id: 'session_id',
} as const;
