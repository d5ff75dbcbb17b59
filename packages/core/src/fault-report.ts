/** Tells of a fault that comes again and again once, until all was well. */
export interface FaultReport {
  tell: (error: unknown) => void;
  /** All is well: the same fault would be news. */
  clear: () => void;
}

export function createFaultReport(onFault: (error: unknown) => void): FaultReport {
  let reported: string | undefined;
  return {
    tell(error) {
      const words = String(error);
      if (words !== reported) onFault(error);
      reported = words;
    },
    clear() {
      reported = undefined;
    },
  };
}
