import { type Artifact, type Caller, LIMITS, ParleyError, scopedId, ulid } from '@parley/protocol';

import { invalid } from '../draft.ts';
import { requireTreeRight } from '../knowledge/rights.ts';
import { operation, stamp } from '../operation.ts';
import type { ArtifactPorts, RecordPorts } from '../ports.ts';
import { checkIdScope, treeId, workspaceTag } from '../threads/access.ts';
import type { ArtifactRecord } from './artifact-record.ts';
import { checkName, checkType } from './policy.ts';

const putArtifact = operation('put_artifact', {
  authority: 'act',
  async run(deps: RecordPorts & ArtifactPorts, caller, input, { body, trace }) {
    requireTreeRight(caller, 'create');
    const { name, idempotency_key } = input;
    const { workspace_id } = caller;
    const mime_type = input.mime_type.toLowerCase();
    checkType(mime_type, deps.artifacts.types);
    checkName(name);
    const bytesGiven = body ?? inline(input);
    const kept = await deps.artifacts.keep(workspace_id, bytesGiven, { mime_type, sha256: input.sha256 });
    const head = stamp(deps, caller, 'put_artifact', idempotency_key, undefined, trace);
    const unique = ulid(head.now, deps.chance.bytes(16));
    const { result } = await deps.log.append({
      type: 'put_artifact',
      ...head,
      thread_id: treeId(workspace_id),
      artifact_id: scopedId('art', unique, workspaceTag(workspace_id)),
      input: { name, mime_type, ...kept },
    });
    return result;
  },
});

const getArtifact = operation('get_artifact', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { artifact_id }) {
    return { artifact: toArtifact(await findArtifact(deps, caller, artifact_id)) };
  },
});

const listArtifacts = operation('list_artifacts', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, { limit, after }) {
    const found = await deps.store.records({
      kind: 'artifact',
      workspace_id,
      descending: true,
      limit: limit + 1,
      ...(after === undefined ? {} : { past: after }),
    });
    const shown = found.slice(0, limit);
    return {
      artifacts: shown.map(toArtifact),
      next_after: found.length > limit ? (shown.at(-1)?.artifact_id ?? null) : null,
    };
  },
});

const signArtifactUrl = operation('sign_artifact_url', {
  authority: 'look',
  async run(deps: RecordPorts & ArtifactPorts, caller, { artifact_id, ttl_sec: asked }) {
    const artifact = await findArtifact(deps, caller, artifact_id);
    const ttl_sec = Math.min(asked, LIMITS.signed_url_sec);
    const untilSec = Math.floor(deps.clock.now() / 1_000) + ttl_sec;
    return {
      artifact_uri: await deps.artifacts.sign(artifact, untilSec),
      artifact_hash: artifact.sha256,
      method: 'GET' as const,
      ttl_sec,
      expires_at: new Date(untilSec * 1_000).toISOString(),
      artifact: toArtifact(artifact),
    };
  },
});

/** An artifact of the caller's workspace. */
async function findArtifact(deps: RecordPorts, caller: Caller, id: string): Promise<ArtifactRecord> {
  const { workspace_id } = caller;
  checkIdScope(id, caller);
  const [kept] = await deps.store.records({ kind: 'artifact', workspace_id, keys: [id], limit: 1 });
  if (kept === undefined)
    throw new ParleyError('NOT_FOUND', `there is no artifact ${id.slice(0, 64)}`, { artifact_id: id });
  return kept;
}

function toArtifact({ workspace_id: _workspace, ...artifact }: ArtifactRecord): Artifact {
  return artifact;
}

async function* inline(given: {
  content?: string | undefined;
  content_base64?: string | undefined;
}): AsyncGenerator<Uint8Array> {
  const { content, content_base64 } = given;
  if ((content === undefined) === (content_base64 === undefined))
    throw invalid('content', 'content: give the text, or the bytes as content_base64');
  yield content === undefined ? Buffer.from(content_base64 ?? '', 'base64') : Buffer.from(content);
}

/** By name: the table of operations takes them from here. */
export const artifactOperations = {
  put_artifact: putArtifact,
  get_artifact: getArtifact,
  list_artifacts: listArtifacts,
  sign_artifact_url: signArtifactUrl,
};
