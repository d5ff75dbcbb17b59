import {
  CALLER_FIELDS,
  type Caller,
  type Contract,
  CONTRACTS,
  costOf,
  HUB_NAME,
  type OperationName,
  ParleyError,
  tellUnknown,
  type Trace,
  unknownFields,
} from '@parley/protocol';

import type { Log } from './log.ts';
import { type CallContext, type Deps, type Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { outOfScope } from './threads/access.ts';

/** What is known of a call once it has ended. */
export interface CallRecord {
  request_id: string;
  operation: OperationName;
  caller: Caller;
  ms: number;
  trace: Trace | undefined;
  /** Undefined when the call went well. */
  error: ParleyError | undefined;
  /** The error behind an INTERNAL one. */
  cause: unknown;
}

/** The gate: every face hands its decoded calls to this one function. */
export interface Hub {
  call(
    caller: Caller,
    name: OperationName,
    input: unknown,
    context: CallContext,
  ): Promise<Record<string, unknown>>;
}

/** Builds the gate over the table of operations; `record` hears of each call once. */
export function createHub(deps: Deps, record: (call: CallRecord) => void): Hub {
  return {
    async call(caller, name, input, context) {
      const started = deps.clock.monotonic();
      let error: ParleyError | undefined;
      let cause: unknown;
      let leave: (() => void) | undefined;
      try {
        const { operation, parsed, warnings } = admitCall(caller, name, input);
        if (context.unmetered !== true) leave = meter(deps, caller, name);
        const result = await operation.run(within(deps, context.deadline), caller, parsed, context);
        return warnings.length === 0 ? result : { warnings, ...result };
      } catch (thrown) {
        if (thrown instanceof ParleyError) error = thrown;
        else {
          cause = thrown;
          error = new ParleyError(
            'INTERNAL',
            'something went wrong inside the hub; the request id leads to the cause in its log',
          );
        }
        recorded.add(error);
        throw error;
      } finally {
        leave?.();
        record({
          request_id: context.request_id,
          operation: name,
          caller,
          ms: deps.clock.monotonic() - started,
          trace: context.trace,
          error,
          cause,
        });
      }
    },
  };
}

/** What the caller writes carries its deadline to where it is decided; what the hub does of itself afterwards has none. */
function within(deps: Deps, deadline: number | undefined): Deps {
  if (deadline === undefined) return deps;
  const { log } = deps;
  const append: Log['append'] = (command) =>
    log.append(command.caller.agent_id === HUB_NAME ? command : { ...command, deadline });
  return { ...deps, log: { ...log, append } };
}

/**
 * Counts a call that was let in, before it costs anything, and gives it a place until it has ended. One that is
 * refused for its form or its role is not counted.
 */
function meter({ quotas }: Deps, caller: Caller, name: OperationName): () => void {
  const leave = quotas.hold(caller);
  try {
    const cost = costOf(CONTRACTS[name]);
    if (cost !== undefined) quotas.spend(caller, cost);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

/** True for an error that the gate has put on record, so that a face does not record it twice. */
export function isRecorded(error: ParleyError): boolean {
  return recorded.has(error);
}

const recorded = new WeakSet<ParleyError>();

/** Refuses what the gate would refuse at once, for calls that are only to be carried out later; what it would warn of. */
export function checkCall(caller: Caller, name: OperationName, input: unknown): string[] {
  return admitCall(caller, name, input).warnings;
}

function admitCall(caller: Caller, name: OperationName, raw: unknown) {
  checkClaims(caller, raw);
  const parsed = CONTRACTS[name].input.safeParse(raw);
  if (!parsed.success) throw invalidInput(parsed.error.issues);
  const operation = OPERATIONS[name] as Operation<OperationName>;
  if (operation.authority === 'act' && caller.role === 'observer') {
    throw new ParleyError('FORBIDDEN', `an observer may not call ${name}`);
  }
  if (caller.read_only === true && !CONTRACTS[name].annotations.readOnlyHint)
    throw new ParleyError('FORBIDDEN', `this device may only look: ${name} changes something`);
  return { operation, parsed: parsed.data, warnings: checkFields(name, raw, parsed.data) };
}

/** What an input holds that is not known here: refused where a decision depends on it, else told. */
function checkFields(name: OperationName, raw: unknown, parsed: unknown): string[] {
  const fields = unknownFields(raw, parsed).filter((field) => !Object.hasOwn(CALLER_FIELDS, field));
  const [field] = fields;
  if (field === undefined) return [];
  const { input, strict }: Contract = CONTRACTS[name];
  const told = tellUnknown(input, fields);
  if (strict !== true) return told;
  throw new ParleyError('VALIDATION_ERROR', told[0] ?? '', {
    field,
    issues: told.map((message, i) => ({ field: fields[i], message })),
  });
}

const CALLER_CLAIMS = Object.entries(CALLER_FIELDS);

/** Payload fields that name the caller are hints: they must equal the verified claims, the workspace first of all. */
function checkClaims(caller: Caller, raw: unknown): void {
  if (raw === null || typeof raw !== 'object') return;
  const input = raw as Record<string, unknown>;
  for (const [field, claim] of CALLER_CLAIMS) {
    const value = Object.hasOwn(input, field) ? input[field] : undefined;
    if (value === undefined || value === caller[claim]) continue;
    if (typeof value !== 'string')
      throw new ParleyError('VALIDATION_ERROR', `${field}: must be a string`, { field });
    if (claim === 'workspace_id') throw outOfScope();
    throw new ParleyError('CLAIM_MISMATCH', `${field} differs from the verified ${claim}`, { field });
  }
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

function invalidInput(issues: readonly Issue[]): ParleyError {
  const told = issues
    .slice(0, 10)
    .map(({ path, message }) => ({ field: path.map(String).join('.') || 'input', message }));
  const first = told[0];
  return new ParleyError('VALIDATION_ERROR', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    issues: told,
  });
}
