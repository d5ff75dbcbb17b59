import type { Artifacts } from '@parley/core';
import {
  decodeJson,
  fromToolMessage,
  isToolMessage,
  ParleyError,
  toolName,
  isFields,
} from '@parley/protocol';

import type { BodyLimits } from '../../exchange.ts';
import type { Known } from './decode.ts';

type Args = Record<string, unknown>;

/** The arguments of an envelope: those in it, or those in the artifact that it names. */
export async function argsOf(
  { action, payload, tenant_id }: Known,
  artifacts: Pick<Artifacts, 'named' | 'read'>,
  limits: BodyLimits,
): Promise<Args> {
  const { args, artifact_uri = '', artifact_hash = '' } = payload;
  if (args !== undefined) return unwrapped(action, args);
  const { workspace_id, sha256 } = artifacts.named(artifact_uri);
  if (workspace_id !== tenant_id)
    throw new ParleyError('OUT_OF_SCOPE_WORKSPACE', 'artifact_uri: belongs to another tenant');
  if (artifact_hash.toLowerCase().replace('sha256:', '') !== sha256)
    throw new ParleyError('VALIDATION_ERROR', 'artifact_hash: is not that of the artifact', {
      field: 'artifact_hash',
    });
  const bytes = await artifacts.read(workspace_id, sha256, limits.bytes);
  const found = decodeJson(new TextDecoder().decode(bytes), limits);
  if (!isFields(found))
    throw new ParleyError('VALIDATION_ERROR', 'artifact_uri: the artifact must hold a JSON object', {
      field: 'artifact_uri',
    });
  return unwrapped(action, found);
}

/** A Langroid agent wraps its arguments in a ToolMessage, which names the tool they are for. */
function unwrapped(action: string, args: Args): Args {
  if (!isToolMessage(args)) return args;
  if (args.request !== toolName(action))
    throw new ParleyError('VALIDATION_ERROR', `request: the ToolMessage is not for ${action}`, {
      field: 'request',
    });
  return fromToolMessage(args);
}
