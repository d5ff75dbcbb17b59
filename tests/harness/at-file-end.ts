/** What is still to be done when the tests of a file have ended: a worker may go on with another file. */
const duties: (() => Promise<unknown> | void)[] = [];

/** Has this done after the last test of the file, the newest first. */
export function atFileEnd(duty: () => Promise<unknown> | void): void {
  duties.push(duty);
}

/** Does all of it, whatever fails, and then says what failed. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (let duty = duties.pop(); duty !== undefined; duty = duties.pop()) {
    try {
      await duty();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'what the tests left could not be cleaned up');
}
