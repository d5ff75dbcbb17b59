import type { NotifySettings, QueueSettings, QuotaSettings, WakeSettings } from '@parley/core';

import type { Config } from './config/schema.ts';

/** How much one caller may do. */
export function quotaSettings(quota: Config['quota']): QuotaSettings {
  return {
    message: { per_minute: quota.messages_per_minute, burst: quota.messages_burst },
    write: { per_minute: quota.writes_per_minute, burst: quota.writes_burst },
    search: { per_minute: quota.searches_per_minute, burst: quota.searches_burst },
    open: quota.open,
  };
}

/** How notifications behave. */
export function notifySettings(notify: Config['notify']): NotifySettings {
  return {
    graceMs: notify.grace_ms,
    lookMs: notify.look_ms,
    troubleAfterMs: notify.trouble_after_ms,
    repeatMs: notify.repeat_ms,
    retryMs: notify.retry_ms,
    giveUpMs: notify.give_up_ms,
  };
}

/** How patient waking is, and how often it may be. */
export function wakeSettings(wake: Config['wake']): WakeSettings {
  return {
    quiet: wake.quiet,
    recheckMs: wake.recheck_ms,
    quietMs: wake.quiet_ms,
    maxDeferMs: wake.max_defer_ms,
    expireMs: wake.expire_ms,
    proofMs: wake.proof_ms,
    returnMs: wake.return_ms,
    repeatAfterMs: wake.repeat_after_ms,
    pairPerHour: wake.pair_per_hour,
    targetPerHour: wake.target_per_hour,
  };
}

/** How the queue behaves. */
export function queueSettings({ queue, knowledge, idempotency }: Config): QueueSettings {
  return {
    ackDeadlineMs: queue.ack_deadline_ms,
    maxAttempts: queue.max_attempts,
    backoff: { firstMs: queue.retry_ms, maxMs: queue.retry_max_ms },
    maxWaiting: queue.max_waiting,
    keepDoneMs: queue.keep_done_ms,
    keepDeadMs: queue.keep_dead_ms,
    sweepMs: knowledge.sweep_ms,
    idempotencyWindowMs: idempotency.window_ms,
    concurrent: queue.tenant_concurrent,
  };
}
