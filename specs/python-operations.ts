import { CALL_FACTS, type Contract, CONTRACTS, type OperationName } from '@parley/protocol';

import { createDeprecations } from '../packages/hub/src/deprecations.ts';
import { openApiDocument } from '../packages/hub/src/faces/v1/openapi/document.ts';
import { pascal } from '../packages/hub/src/faces/v1/openapi/errors.ts';

interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}

const TYPES: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'List[Any]',
  object: 'Dict[str, Any]',
};

/** Words that Python keeps for itself. */
const KEPT = new Set(['from', 'import', 'class', 'global', 'pass', 'is', 'in', 'not']);

/** The operations as methods of a Python class, out of the OpenAPI document. */
export function pythonOperations(): string {
  const { components } = openApiDocument('0', 'http://127.0.0.1', createDeprecations([])) as {
    components: { schemas: Record<string, Schema> };
  };
  const methods = (Object.values(CONTRACTS) as Contract[]).map((contract) => {
    const name = contract.name as OperationName;
    const { properties = {} } = components.schemas[`${pascal(name)}Input`] ?? {};
    const own = Object.keys((contract.input as unknown as { shape: object }).shape);
    const fields = own.map((field): [string, Schema] => [field, properties[field] ?? {}]);
    return methodOf(name, contract, fields, components.schemas[`${pascal(name)}Input`]?.required ?? []);
  });
  return `"""The operations of the hub, made from its OpenAPI document by \`npm run clients\`; not for hands."""

from typing import Any, Dict, List, Optional


class Operations:
    """One method for each operation; None leaves a field out."""

    def call(self, name: str, fields: Dict[str, Any], keyed: bool = False, waits: bool = False) -> Dict[str, Any]:
        raise NotImplementedError

${methods.join('\n')}`;
}

function methodOf(
  name: OperationName,
  { description }: Contract,
  fields: [string, Schema][],
  required: string[],
): string {
  for (const [field] of fields) if (KEPT.has(field)) throw new Error(`${field} is a word of Python`);
  const sorted = [...fields].toSorted(
    ([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)),
  );
  const parameters = sorted.map(([field, { type = '' }]) => {
    const hint = TYPES[type] ?? 'Any';
    return required.includes(field) ? `${field}: ${hint}` : `${field}: Optional[${hint}] = None`;
  });
  const signature = parameters.length === 0 ? 'self' : `self, *, ${parameters.join(', ')}`;
  const facts = CALL_FACTS[name];
  const flags = `${facts.includes('keyed') ? ', keyed=True' : ''}${facts.includes('waits') ? ', waits=True' : ''}`;
  const values = fields.map(([field]) => `"${field}": ${field}`).join(', ');
  const told = fields.filter(([, schema]) => schema.description !== undefined);
  const lines = told.map(([field, schema]) => `        ${field}: ${schema.description ?? ''}\n`);
  return `    def ${name}(${signature}) -> Dict[str, Any]:
        """${description}${lines.length === 0 ? '' : `\n\n${lines.join('')}        `}"""
        return self.call("${name}", {${values}}${flags})
`;
}
