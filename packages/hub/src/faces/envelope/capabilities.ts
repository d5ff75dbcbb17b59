import {
  type Contract,
  CONTRACTS,
  Envelope,
  ENVELOPE_ACTIONS,
  ENVELOPE_VERSIONS,
  type EnvelopeAction,
  entriesOf,
  fieldsOf,
} from '@parley/protocol';
import * as z from 'zod';

import type { DeprecatedAction } from './deprecations.ts';

/** How large the payload of an action may be, and how many of its calls run at once. */
export interface ActionLimits {
  max_payload_bytes: number;
  max_query_bytes: number;
  max_concurrent: number;
  deprecated: readonly DeprecatedAction[];
}

/** The size that the payload of an action may have. */
export function payloadLimit(
  action: EnvelopeAction,
  limits: Pick<ActionLimits, 'max_payload_bytes' | 'max_query_bytes'>,
): number {
  return action === 'knowledge.query_knowledge' ? limits.max_query_bytes : limits.max_payload_bytes;
}

/** What the hub understands and how much of it at once; both bounds are enforced. */
export function capabilities(limits: ActionLimits) {
  return {
    envelope_versions: ENVELOPE_VERSIONS,
    actions: entriesOf(ENVELOPE_ACTIONS).map(([action, operation]) => ({
      action,
      action_version: CONTRACTS[operation].version,
      max_payload_bytes: payloadLimit(action, limits),
      max_concurrent: limits.max_concurrent,
      ...endOf(action, limits.deprecated),
    })),
    transports: ['http-sync', 'pubsub-async'],
  };
}

function endOf(action: EnvelopeAction, deprecated: readonly DeprecatedAction[]) {
  const found = deprecated.find((one) => one.action === action);
  if (found === undefined) return {};
  return { deprecated: { ends_at: found.ends_at, ...(found.use === undefined ? {} : { use: found.use }) } };
}

/** The JSON Schema of the envelope itself, made from the schema that checks it. */
export function envelopeSchema(): Record<string, unknown> {
  const { properties = {}, ...schema } = z.toJSONSchema(Envelope, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  // What holds between fields, which zod has as functions.
  const eitherOr = {
    oneOf: [{ required: ['args'] }, { required: ['artifact_uri'] }],
    dependentRequired: { artifact_uri: ['artifact_hash'], artifact_hash: ['artifact_uri'] },
  };
  return {
    ...schema,
    properties: {
      ...properties,
      envelope_version: { type: 'string', enum: ENVELOPE_VERSIONS },
      payload: { ...fieldsOf(properties['payload']), ...eitherOr },
    },
    $id: 'schemas/mcp/envelope.json',
    title: `envelope ${ENVELOPE_VERSIONS.join(', ')}`,
    description: 'payload.args are described by schemas/mcp/<action>.json.',
  };
}

/** The JSON Schema of an action's arguments, made from the schema that checks them. */
export function actionSchema(action: EnvelopeAction): Record<string, unknown> {
  const contract: Contract = CONTRACTS[ENVELOPE_ACTIONS[action]];
  const { properties = {}, ...schema } = z.toJSONSchema(contract.input, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  // In an envelope the key stands outside the arguments.
  const { idempotency_key: _key, ...fields } = properties;
  return {
    ...schema,
    $id: `schemas/mcp/${action}.json`,
    title: `${action} ${contract.version}`,
    description: contract.description,
    properties: fields,
    ...(contract.strict === true ? { additionalProperties: false } : {}),
  };
}
