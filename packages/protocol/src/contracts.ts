import type { z } from 'zod';

import type { Contract } from './contract.ts';
import { addChannel, listChannels, removeChannel, testChannel, updateChannel } from './contracts-channels.ts';
import { addLeave, listLeaves, revokeLeave } from './contracts-leaves.ts';
import {
  commandAgent,
  getAgent,
  listAgents,
  registerAgent,
  reportEvent,
  updateAgentStatus,
} from './contracts-agents.ts';
import { getArtifact, listArtifacts, putArtifact, signArtifactUrl } from './contracts-artifacts.ts';
import {
  answerAsk,
  askHuman,
  getAsk,
  listAsks,
  raiseAsk,
  waitForAsk,
  withdrawAsk,
} from './contracts-asks.ts';
import {
  createDocument,
  promoteThread,
  deleteDocument,
  exportDocuments,
  getDocument,
  getDocumentHistory,
  getDocumentLinks,
  listDocuments,
  moveDocument,
  restoreDocument,
  revertDocument,
  updateDocument,
} from './contracts-documents.ts';
import {
  ackRead,
  getMessage,
  getMessageEvidence,
  postMessage,
  readMessages,
  searchMessages,
  waitForMessages,
} from './contracts-messages.ts';
import {
  assignTask,
  closeSideChannel,
  controlThread,
  listPresence,
  openSideChannel,
  reportResult,
  setPresence,
  shouldRespond,
} from './contracts-participation.ts';
import { getDelivery, listDeliveries, redriveDeliveries } from './contracts-queue.ts';
import { listServices, reportHealth } from './contracts-registry.ts';
import { describeHub, listDevices, pairDevice, readLog, revokeDevice } from './contracts-system.ts';
import { queryKnowledge } from './contracts-search.ts';
import { getSlo } from './contracts-slo.ts';
import {
  heartbeatSession,
  listQuiet,
  listSessions,
  setQuiet,
  triggerParticipant,
  waitForWake,
} from './contracts-sessions.ts';
import {
  createThread,
  getThread,
  listThreads,
  previewThreads,
  renameThread,
  summarizeThread,
  updateThreadStatus,
} from './contracts-threads.ts';

/** Everything the hub can do, by name; the tools, the routes, the documents and the client come from this table. */
export const CONTRACTS = {
  create_thread: createThread,
  get_thread: getThread,
  list_threads: listThreads,
  post_message: postMessage,
  read_messages: readMessages,
  wait_for_messages: waitForMessages,
  ack_read: ackRead,
  get_message: getMessage,
  search_messages: searchMessages,
  update_thread_status: updateThreadStatus,
  summarize_thread: summarizeThread,
  heartbeat_session: heartbeatSession,
  list_sessions: listSessions,
  trigger_participant: triggerParticipant,
  set_quiet: setQuiet,
  list_quiet: listQuiet,
  wait_for_wake: waitForWake,
  get_message_evidence: getMessageEvidence,
  rename_thread: renameThread,
  control_thread: controlThread,
  should_respond: shouldRespond,
  set_presence: setPresence,
  list_presence: listPresence,
  assign_task: assignTask,
  report_result: reportResult,
  open_side_channel: openSideChannel,
  close_side_channel: closeSideChannel,
  register_agent: registerAgent,
  update_agent_status: updateAgentStatus,
  report_event: reportEvent,
  list_agents: listAgents,
  get_agent: getAgent,
  command_agent: commandAgent,
  raise_ask: raiseAsk,
  ask_human: askHuman,
  wait_for_ask: waitForAsk,
  get_ask: getAsk,
  list_asks: listAsks,
  answer_ask: answerAsk,
  withdraw_ask: withdrawAsk,
  create_document: createDocument,
  promote_thread: promoteThread,
  update_document: updateDocument,
  delete_document: deleteDocument,
  restore_document: restoreDocument,
  move_document: moveDocument,
  get_document: getDocument,
  list_documents: listDocuments,
  export_documents: exportDocuments,
  get_document_history: getDocumentHistory,
  revert_document: revertDocument,
  get_document_links: getDocumentLinks,
  query_knowledge: queryKnowledge,
  put_artifact: putArtifact,
  get_artifact: getArtifact,
  list_artifacts: listArtifacts,
  sign_artifact_url: signArtifactUrl,
  report_health: reportHealth,
  list_services: listServices,
  list_deliveries: listDeliveries,
  get_delivery: getDelivery,
  redrive_deliveries: redriveDeliveries,
  list_devices: listDevices,
  pair_device: pairDevice,
  revoke_device: revokeDevice,
  list_leaves: listLeaves,
  add_leave: addLeave,
  revoke_leave: revokeLeave,
  list_channels: listChannels,
  add_channel: addChannel,
  update_channel: updateChannel,
  remove_channel: removeChannel,
  test_channel: testChannel,
  preview_threads: previewThreads,
  read_log: readLog,
  describe_hub: describeHub,
  get_slo: getSlo,
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
