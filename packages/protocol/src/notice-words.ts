/** What a person can be told of, each as it begins to be so. */
export const NOTICE_KINDS = ['ask', 'trouble', 'mention', 'resolved', 'finished'] as const;
