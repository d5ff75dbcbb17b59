import type { OperationName } from '@parley/protocol';

import {
  commandAgent,
  getAgent,
  listAgents,
  registerAgent,
  reportEvent,
  updateAgentStatus,
} from './agents/operations.ts';
import { getArtifact, listArtifacts, putArtifact, signArtifactUrl } from './artifacts/operations.ts';
import {
  answerAsk,
  askHuman,
  getAsk,
  listAsks,
  raiseAsk,
  waitForAsk,
  withdrawAsk,
} from './asks/operations.ts';
import { addLeave, listLeaves, revokeLeave } from './asks/leave-operations.ts';
import { listDevices, pairDevice, revokeDevice } from './devices/operations.ts';
import { getMessageEvidence } from './evidence/operations.ts';

import { listServices, reportHealth } from './envelope/operations.ts';
import {
  createDocument,
  deleteDocument,
  moveDocument,
  restoreDocument,
  revertDocument,
  updateDocument,
} from './knowledge/operations.ts';
import { promoteThread } from './knowledge/promote-operation.ts';
import { queryKnowledge } from './knowledge/query-operation.ts';
import {
  exportDocuments,
  getDocument,
  getDocumentHistory,
  getDocumentLinks,
  listDocuments,
} from './knowledge/read-operations.ts';
import { getSlo } from './envelope/slo-operation.ts';
import { describeHub, readLog } from './hub-operations.ts';
import { addChannel, listChannels, removeChannel, testChannel, updateChannel } from './notify/operations.ts';
import {
  ackRead,
  getMessage,
  postMessage,
  readMessages,
  searchMessages,
  waitForMessages,
} from './messages/operations.ts';
import type { Operation } from './operation.ts';
import {
  assignTask,
  closeSideChannel,
  controlThread,
  listPresence,
  openSideChannel,
  reportResult,
  setPresence,
  shouldRespond,
} from './participation/operations.ts';
import { getDelivery, listDeliveries, redriveDeliveries } from './queue/operations.ts';
import { heartbeatSession, listSessions } from './sessions/operations.ts';
import {
  createThread,
  getThread,
  listThreads,
  previewThreads,
  renameThread,
  summarizeThread,
  updateThreadStatus,
} from './threads/operations.ts';
import { listQuiet, setQuiet, triggerParticipant, waitForWake } from './wake/operations.ts';

/** The table of operations: what each contract does. */
export const OPERATIONS: { [N in OperationName]: Operation<N> } = {
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
};
