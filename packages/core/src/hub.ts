import {
  CALLER_FIELDS,
  type Caller,
  type Contract,
  CONTRACTS,
  costOf,
  HUB_NAME,
  type OperationName,
  ParleyError,
  type ParsedInputOf,
  tellUnknown,
  unknownFields,
  fieldsOf,
  issueWords,
  rangesOf,
} from '@parley/protocol';

import { checkAnswer } from './check-answer.ts';
import type { KeyedRead } from './envelope/reads.ts';
import type { Log } from './log.ts';
import type { AnswerOf, CallContext, CallRecord, Hub } from './gate.ts';
import { OPERATIONS } from './operations.ts';
import type { Operation } from './operation.ts';
import type { Ports, QuotaPorts } from './ports.ts';
import { markRecorded } from './recorded-errors.ts';
import { outOfScope } from './threads/access.ts';

/** How the gate behaves. */
export interface GateOptions {
  /** Holds every answer against its contract; one that differs is an internal error. */
  checkAnswers?: boolean;
}

/** Builds the gate over the table of operations; `record` hears of each call once. */
export function createHub(
  deps: Ports,
  record: (call: CallRecord) => void,
  { checkAnswers = false }: GateOptions = {},
): Hub {
  /** Every call passes here: whatever becomes of it is told once. */
  async function passing<A>(
    { caller, operation, later }: Pick<CallRecord, 'caller' | 'operation' | 'later'>,
    { request_id, trace }: CallContext,
    work: () => Promise<A>,
  ): Promise<A> {
    const started = deps.clock.monotonic();
    let error: ParleyError | undefined;
    let cause: unknown;
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof ParleyError) error = thrown;
      else {
        cause = thrown;
        error = new ParleyError(
          'INTERNAL',
          'something went wrong inside the hub; the request id leads to the cause in its log',
        );
      }
      markRecorded(error);
      throw error;
    } finally {
      const ms = deps.clock.monotonic() - started;
      record({ request_id, operation, caller, ms, trace, later, error, cause });
    }
  }

  return {
    call(caller, name, input, context) {
      return passing({ caller, operation: name, later: false }, context, async () => {
        const { operation, parsed, warnings } = admitCall(caller, name, input);
        const leave = context.unmetered === true ? undefined : meter(deps, caller, name);
        const { read_key, deadline } = context;
        const run = () => operation.run(within(deps, deadline), caller, parsed, context);
        try {
          const answer =
            read_key === undefined
              ? warned(await run(), warnings)
              : await deps.reads.once(caller, toRead(name, input, read_key, context), async () =>
                  warned(await run(), warnings),
                );
          if (checkAnswers) checkAnswer(name, answer);
          // What was kept under the key is what this operation has answered before.
          return answer as AnswerOf<typeof name>;
        } finally {
          leave?.();
        }
      });
    },
    acceptForLater(caller, name, input, context, accept) {
      return passing({ caller, operation: name, later: true }, context, async () => {
        const { warnings } = admitCall(caller, name, input);
        const leave = deps.quotas.hold(caller);
        try {
          return warned(await accept(), warnings);
        } finally {
          leave();
        }
      });
    },
  };
}

function toRead(
  operation: OperationName,
  input: unknown,
  idempotency_key: string,
  { order, deadline }: CallContext,
): KeyedRead {
  // The schema has just taken it for an object.
  return { operation, args: input as KeyedRead['args'], idempotency_key, order, deadline };
}

function warned<A extends object>(answer: A, warnings: string[]): A & { warnings?: string[] } {
  return warnings.length === 0 ? answer : { warnings, ...answer };
}

/** What the caller writes carries its deadline to where it is decided; what the hub does of itself afterwards has none. */
function within(deps: Ports, deadline: number | undefined): Ports {
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
function meter({ quotas }: QuotaPorts, caller: Caller, name: OperationName): () => void {
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

/** Refuses what the gate would refuse at once, for a stream that is asked for as a call is; what it would warn of. */
export function checkCall(caller: Caller, name: OperationName, input: unknown): string[] {
  return admitCall(caller, name, input).warnings;
}

function admitCall<N extends OperationName>(caller: Caller, name: N, raw: unknown) {
  checkClaims(caller, raw);
  const parsed = CONTRACTS[name].input.safeParse(raw);
  if (!parsed.success) throw invalidInput(parsed.error.issues, raw, CONTRACTS[name]);
  const operation: Operation<N, Ports> = OPERATIONS[name];
  if (operation.authority === 'act' && caller.role === 'observer') {
    throw new ParleyError('FORBIDDEN', `an observer may not call ${name}`);
  }
  if (caller.read_only === true && !CONTRACTS[name].annotations.readOnlyHint)
    throw new ParleyError('FORBIDDEN', `this device may only look: ${name} changes something`);
  const warnings = checkFields(name, raw, parsed.data);
  // The schema of the same name has just made it; of a name that is known only when it runs, the compiler sees the union.
  return { operation, parsed: parsed.data as ParsedInputOf<N>, warnings };
}

/** What an input holds that is not known here: refused where a decision depends on it, else told. */
function checkFields(name: OperationName, raw: unknown, parsed: unknown): string[] {
  const fields = unknownFields(raw, parsed).filter((field) => !Object.hasOwn(CALLER_FIELDS, field));
  const [field] = fields;
  if (field === undefined) return [];
  const { input, strict }: Contract = CONTRACTS[name];
  const reported = tellUnknown(input, fields);
  if (strict !== true) return reported;
  throw new ParleyError('VALIDATION_ERROR', reported[0] ?? '', {
    field,
    issues: reported.map((message, i) => ({ field: fields[i], message })),
  });
}

const CALLER_CLAIMS = Object.entries(CALLER_FIELDS);

/** Payload fields that name the caller are hints: they must equal the verified claims, the workspace first of all. */
function checkClaims(caller: Caller, raw: unknown): void {
  const input = fieldsOf(raw);
  for (const [field, claim] of CALLER_CLAIMS) {
    const value = Object.hasOwn(input, field) ? input[field] : undefined;
    if (value === undefined || value === caller[claim]) continue;
    if (typeof value !== 'string')
      throw new ParleyError('VALIDATION_ERROR', `${field}: must be a string`, { field });
    if (claim === 'workspace_id') throw outOfScope();
    throw new ParleyError('CLAIM_MISMATCH', `${field} differs from the verified ${claim}`, { field });
  }
}

type Issue = Parameters<typeof issueWords>[0] & {};

function invalidInput(issues: readonly Issue[], raw: unknown, { input }: Contract): ParleyError {
  const reported = issues.slice(0, 10).map((issue) => ({
    field: issue.path.map(String).join('.') || 'input',
    message: issueWords(issue, raw, rangesOf(input)),
  }));
  const first = reported[0];
  return new ParleyError('VALIDATION_ERROR', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    issues: reported,
  });
}
