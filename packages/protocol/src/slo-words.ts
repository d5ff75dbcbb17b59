/** What is promised to those who send envelopes. */
export const SLO_TARGETS = {
  /** Share of envelopes that may end in an error. */
  error_rate: 0.01,
  /** 95 of 100 answers come within this. */
  internal_ack_ms: 1_000,
  external_ack_ms: 2_000,
  /** Share of a day's envelopes that may end as dead letters. */
  dead_letter_rate: 0.001,
  /** 95 of 100 deliveries come to their end no later than this after their eta. */
  job_past_eta_ms: 60_000,
} as const;
