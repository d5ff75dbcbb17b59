/** One line of the report. */
export function line(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(34)} ${figure}\n`);
}
