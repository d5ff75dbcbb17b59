/** What the hub can see in a command that makes it high risk, whatever its agent says. */
export const RISK_HINTS = [
  'recursive_delete',
  'destroys_data',
  'discards_work',
  'force_push',
  'disk',
  'permissions',
  'privilege',
  'secrets',
  'sends_data',
  'network_to_shell',
  'outside_folder',
  'hidden_command',
  'listed',
] as const;
export type RiskHint = (typeof RISK_HINTS)[number];

/** What each hint says of a command, for a person who decides on it. */
export const RISK_WORDS: Record<RiskHint, string> = {
  recursive_delete: 'deletes folders with all that is in them',
  destroys_data: 'destroys data',
  discards_work: 'throws work away that is not committed',
  force_push: 'overwrites a branch on its server',
  disk: 'writes to a disk itself',
  permissions: 'lets others at files',
  privilege: 'runs with more rights',
  secrets: 'touches secrets',
  sends_data: 'sends data out',
  network_to_shell: 'runs what it downloads',
  outside_folder: 'changes files outside its folder',
  hidden_command: 'hides what it runs',
  listed: 'is on this hub’s list of what is high risk',
};
