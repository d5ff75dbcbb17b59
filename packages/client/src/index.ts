export {
  type Agent,
  type AgentOptions,
  type CommandHandler,
  type CommandSource,
  openAgent,
} from './agent.ts';
export type { Socket, SocketConstructor } from './agent-socket.ts';
export { ParleyError } from '@parley/protocol';
export { type Call, type Client, createClient } from './client.ts';
export { ClientError, isClientError } from './client-error.ts';
export type { Happening } from './follow-all.ts';
export type { Upload, UploadOptions } from './upload.ts';
export type { FollowOptions } from './follow-stream.ts';
export type { Address, CallOptions, ClientOptions, Token } from './transport.ts';
