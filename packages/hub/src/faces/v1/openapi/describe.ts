import type { Contract, ErrorCode, OperationName } from '@parley/protocol';

import type { Deprecations } from '../../../deprecations.ts';
import type { Components, Json } from '../../../schema-components.ts';
import { errorResponses, headers, pascal } from './errors.ts';
import { refusalsOf } from './refusals.ts';
import { tagOf } from './tags.ts';

/** What the parts of the description are made with. */
export interface Writing {
  components: Components;
  /** Responses that several operations share, by name. */
  responses: Record<string, Json>;
  deprecations: Deprecations;
}

/** A reference to what an operation answers. */
export function resultOf({ components }: Writing, { name, output }: Contract): Json {
  return components.named(`${pascal(name)}Result`, output, 'output');
}

/** What all ways to call an operation have in common. */
export function describe(
  writing: Writing,
  contract: Contract,
  operationId: string,
  hasBody: boolean,
  more: { codes?: readonly ErrorCode[]; refusesBytes?: boolean } = {},
): Json {
  // A contract of the table is named as its operation.
  const name = contract.name as OperationName;
  const ending = writing.deprecations.of(name);
  return {
    operationId,
    tags: [tagOf(name)],
    summary: contract.title,
    description: contract.description,
    'x-operation-version': contract.version,
    ...(ending === undefined ? {} : { deprecated: true, 'x-sunset': ending.ends_at }),
    responses: {
      '200': {
        description: 'Done.',
        headers: headers('X-Request-Id', 'Deprecation', 'Sunset'),
        content: { 'application/json': { schema: resultOf(writing, contract) } },
      },
      ...errorResponses(
        writing.components,
        writing.responses,
        [...refusalsOf(contract), ...(more.codes ?? [])],
        { hasBody, refusesBytes: more.refusesBytes ?? false },
      ),
    },
  };
}
