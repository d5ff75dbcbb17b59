import type { AskAnswer } from '@parley/protocol';
import { useState } from 'preact/hooks';

/** One field of a form, as JSON Schema describes it; what it does not say is plain text. */
interface Property {
  type?: string;
  title?: string;
  description?: string;
  enum?: readonly unknown[];
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

type Value = string | number | boolean;

/** What a field holds before anybody has touched it. */
function startOf({ default: given, type }: Property): Value {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean') return given;
  return given === undefined ? (type === 'boolean' ? false : '') : JSON.stringify(given);
}

/** The fields of a form; undefined where the schema describes none. */
export function fieldsOf(schema: Record<string, unknown> | undefined): [string, Property][] | undefined {
  const properties = schema?.['properties'];
  if (typeof properties !== 'object' || properties === null) return undefined;
  // What of each is wanted is looked at where it is drawn.
  const fields = Object.entries(properties as Record<string, Property>);
  return fields.length === 0 ? undefined : fields;
}

/** A form that an agent wants filled in. */
export function AskForm({
  schema,
  onAnswer,
}: {
  schema: Record<string, unknown>;
  onAnswer: (verdict: AskAnswer) => void;
}) {
  const fields = fieldsOf(schema) ?? [];
  const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : []);
  const [values, fill] = useState<Record<string, Value>>(() =>
    Object.fromEntries(fields.map(([name, one]) => [name, startOf(one)])),
  );
  const [fault, show] = useState<string | undefined>();
  return (
    <form
      class="reason"
      onSubmit={(event) => {
        event.preventDefault();
        try {
          onAnswer({ decision: 'answered', data: read(fields, values) });
        } catch (error) {
          show(error instanceof Error ? error.message : String(error));
        }
      }}
    >
      {fields.map(([name, field]) => (
        <Field
          key={name}
          name={name}
          field={field}
          value={values[name]}
          isRequired={required.has(name)}
          onChange={(value) => fill({ ...values, [name]: value })}
        />
      ))}
      {fault === undefined ? null : (
        <p class="ask-failed" role="alert">
          {fault}
        </p>
      )}
      <div class="reason-buttons">
        <button type="submit" class="button-primary">
          Send
        </button>
        <button type="button" class="button-danger" onClick={() => onAnswer({ decision: 'denied' })}>
          Decline
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  name: string;
  field: Property;
  value: Value | undefined;
  isRequired: boolean;
  onChange: (value: Value) => void;
}

function Field({ name, field, value, isRequired, onChange }: FieldProps) {
  const label = `${field.title ?? name}${isRequired ? '' : ' (optional)'}`;
  if (field.type === 'boolean')
    return (
      <label class="switch">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>
          {field.title ?? name} <span class="meta">{field.description ?? ''}</span>
        </span>
      </label>
    );
  return (
    <label class="field">
      <span>{label}</span>
      <Entry field={field} value={value} isRequired={isRequired} onChange={onChange} />
      {field.description === undefined ? null : <span class="meta">{field.description}</span>}
    </label>
  );
}

const INPUTS: Record<string, string> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

function Entry({ field, value, isRequired, onChange }: Omit<FieldProps, 'name'>) {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (field.enum !== undefined)
    return (
      <select value={text} required={isRequired} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="" disabled={isRequired}>
          Choose
        </option>
        {field.enum.map((one) => (
          <option key={String(one)}>{String(one)}</option>
        ))}
      </select>
    );
  if (field.type === 'object' || field.type === 'array')
    return (
      <textarea
        class="mono"
        rows={3}
        value={text}
        required={isRequired}
        placeholder={field.type === 'array' ? '["as JSON"]' : '{"as":"JSON"}'}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  const isNumber = field.type === 'number' || field.type === 'integer';
  const kind = isNumber ? 'number' : (INPUTS[field.format ?? ''] ?? 'text');
  return (
    <input
      // Preact types the element by one of its kinds at a time.
      type={kind as 'text'}
      value={text}
      required={isRequired}
      {...(isNumber ? { step: field.type === 'integer' ? 1 : 'any' } : {})}
      {...pick(field)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** The limits that a browser holds a field to by itself. */
function pick({
  minimum,
  maximum,
  minLength,
  maxLength,
  pattern,
}: Property): Record<string, number | string> {
  const limits = { min: minimum, max: maximum, minLength, maxLength, pattern };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]): [string, number | string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** What was filled in, in the types of the schema; what was left empty is left out. */
function read(fields: readonly [string, Property][], values: Record<string, Value>): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [name, { type, enum: choices, title = name }] of fields) {
    const value = values[name];
    if (value === '' || value === undefined) continue;
    if (choices !== undefined) data[name] = choices.find((one) => String(one) === String(value)) ?? value;
    else if (type === 'number' || type === 'integer') data[name] = Number(value);
    else if (type === 'object' || type === 'array') data[name] = parse(String(value), title);
    else data[name] = value;
  }
  return data;
}

function parse(text: string, title: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${title} is not JSON.`);
  }
}
