export { type Agent, type AgentOptions, openAgent } from './agent.ts';
export type { CommandHandler, CommandSource } from './command-handler.ts';
export type { Presence } from './presence.ts';
export type { Socket, SocketConstructor } from './agent-socket.ts';
export { ParleyError, readAll } from '@parley/protocol';
export { type OperationCall, type Client, createClient } from './client.ts';
export { ClientError, isClientError } from './client-error.ts';
export type { Happening } from './follow-all.ts';
export type { Upload, UploadOptions } from './upload.ts';
export type { FollowOptions } from './follow-stream.ts';
export type { Address, CallOptions, ClientOptions, Token } from './transport.ts';
export type { AgentView, Thread } from './words.ts';
export type {
  Ask,
  AskVerdict,
  Document,
  ErrorCode,
  ErrorDetails,
  InputOf,
  Message,
  OperationName,
  OutputOf,
  Role,
  Session,
  ThreadEvent,
} from '@parley/protocol';
