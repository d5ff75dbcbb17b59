import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** What is not code: the results may be committed without a new run. */
const BUT = ['.', ':!docs/proof.md', ':!docs/proof.json'];

/** Names the code as it stands: the last commit that changed it, and what is not committed on top. */
export function stateOfCode(root: string): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 }).trim();
  const commit = git('log', '-1', '--format=%h', '--abbrev=12', '--', ...BUT);
  const changes = git('diff', 'HEAD', '--', ...BUT);
  const added = git('ls-files', '--others', '--exclude-standard', '--', ...BUT);
  if (changes === '' && added === '') return commit;
  return `${commit}+${createHash('sha256').update(changes).update(added).digest('hex').slice(0, 8)}`;
}
