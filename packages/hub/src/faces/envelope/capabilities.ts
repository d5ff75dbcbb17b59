import {
  type Contract,
  CONTRACTS,
  ENVELOPE_ACTIONS,
  ENVELOPE_VERSIONS,
  type EnvelopeAction,
} from '@parley/protocol';
import { z } from 'zod';

/** What the hub understands and how much of it at once; both bounds are enforced. */
export function capabilities(limits: { maxPayloadBytes: number; maxConcurrent: number }) {
  return {
    envelope_versions: ENVELOPE_VERSIONS,
    actions: Object.entries(ENVELOPE_ACTIONS).map(([action, operation]) => ({
      action,
      action_version: CONTRACTS[operation].version,
      max_payload_bytes: limits.maxPayloadBytes,
      max_concurrent: limits.maxConcurrent,
    })),
    transports: ['http-sync'],
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
  };
}
