import { hasOption, isOption, operands } from './shell-program.ts';
import type { ShellCommand } from './shell-words.ts';

/** Files whose content is for nobody else, and variables that hold such. */
const SECRET_FILE =
  /(?:^|[/=@:~])(?:\.env(?:\.(?!example|sample|template|dist|test)[\w-]+)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519)|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml|env)|auth\.json|shadow|[\w.-]+\.(?:pem|p12|pfx|key|kdbx))$/i;
const SECRET_FOLDER = /(?:^|[/~])\.(?:ssh|gnupg|aws|azure|kube|docker)(?:\/|$)/;
const SECRET_VARIABLE = /\$\{?\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|CREDENTIAL)/i;

/** True for a word that names a secret. */
export function isSecret(word: string): boolean {
  return SECRET_FILE.test(word) || SECRET_FOLDER.test(word) || SECRET_VARIABLE.test(word);
}

/** Programs whose answer is a secret: the words with which their arguments begin. */
const SECRET_COMMANDS: Record<string, RegExp> = {
  gh: /^auth (?:token|status .*-t)/,
  gcloud: /^auth .*print-/,
  aws: /^(?:configure (?:get|export)|secretsmanager get|ssm get)/,
  security: /^(?:find-\w+-password|dump-keychain)/,
  pass: /^(?:show|\S*\/)/,
  op: /^(?:read|item get)/,
  vault: /^(?:read|kv get)/,
  kubectl: /^(?:get|describe) secrets?\b/,
  git: /^credential fill/,
  npm: /^token/,
  heroku: /^config/,
  doppler: /^secrets/,
};

/** True for a command that shows secrets. */
export function tellsSecrets(name: string, args: readonly string[]): boolean {
  if (name === 'env' || name === 'printenv')
    return args.length === 0 || args.some((arg) => isSecret(`$${arg}`));
  return Object.hasOwn(SECRET_COMMANDS, name) && SECRET_COMMANDS[name]?.test(args.join(' ')) === true;
}

const LOCAL = /\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/;
const REMOTE = /^(?:[\w.-]+@)?[\w.-]+:(?!\/\/|\d+$)/;

/** True for a command that sends files, or what it reads, to another machine. */
export function sendsData(
  name: string,
  args: readonly string[],
  { piped, redirects }: ShellCommand,
): boolean {
  const fed = piped || redirects.some(({ operator }) => operator.startsWith('<'));
  if (args.some((arg) => LOCAL.test(arg))) return false;
  if (name === 'curl')
    return (
      args.some((arg) => /^(?:-T|--upload-file)/.test(arg)) ||
      args.some(
        (arg, i) =>
          /^(?:-d|--data(?:-\w+)?|--json|-F|--form)$/.test(args[i - 1] ?? '') && /(?:^|=)[@<]/.test(arg),
      ) ||
      args.some((arg) => /^(?:-[dF]|--(?:data(?:-\w+)?|json|form)=)\w*=?[@<]/.test(arg))
    );
  if (name === 'wget') return args.some((arg) => /^--(?:post|body)-file/.test(arg));
  if (['scp', 'sftp', 'rsync'].includes(name)) return REMOTE.test(operands(args).at(-1) ?? '');
  if (['nc', 'ncat', 'netcat', 'socat', 'telnet'].includes(name)) return fed;
  if (name === 'gh') return args[0] === 'gist' && args[1] === 'create';
  // Uploads to a bucket end with its address.
  return ['aws', 'gsutil', 'rclone'].includes(name) && /^\w+:/.test(operands(args).at(-1) ?? '');
}

/** The words, after the program, with which something ceases to be that cannot be had again. */
const DESTROYING: Record<string, RegExp> = {
  terraform: /^(?:destroy|apply .*-auto-approve)/,
  tofu: /^(?:destroy|apply .*-auto-approve)/,
  pulumi: /^destroy/,
  vagrant: /^destroy/,
  kubectl: /^delete\b/,
  helm: /^(?:uninstall|delete)/,
  docker: /^(?:system prune|(?:volume|image|container) (?:rm|prune)|compose down .*(?:-v\b|--volumes))/,
  aws: /^s3 (?:rb|rm .*--recursive)/,
  gsutil: /^(?:-m )?rm .*-r/,
  gcloud: /\bdelete\b/,
  gh: /^(?:repo|release) delete/,
  npm: /^unpublish/,
  dropdb: /^/,
};
const DATABASES = /^(?:psql|mysql|mariadb|sqlite3|mongo|mongosh|redis-cli|clickhouse-client)$/;
const DROPPING =
  /\b(?:drop|truncate)\s+(?:table|database|schema|index)|\bdelete\s+from\s+\S+\s*(?:;|$)|\bflush(?:all|db)\b|dropDatabase|\.drop\(/i;

/** True for a command that destroys what others may need. */
export function destroys(name: string, args: readonly string[]): boolean {
  if (DATABASES.test(name)) return args.some((arg) => DROPPING.test(arg));
  return Object.hasOwn(DESTROYING, name) && DESTROYING[name]?.test(args.join(' ')) === true;
}

/** Options of a push that takes something away at the other end. */
const TAKING = ['--force', '--force-with-lease', '--mirror', '--delete', '--prune'];

/** True for a push that takes something away at the other end. */
export function isForced(sub: string, args: readonly string[]): boolean {
  if (sub !== 'push') return false;
  // The value of -o is no bunch of options.
  const options = args.filter((arg, i) => arg.startsWith('-') && args[i - 1] !== '-o');
  if (options.some((arg) => TAKING.some((name) => isOption(arg, name)) || /^-(?!o)[a-z]*[fd]/.test(arg)))
    return true;
  return operands(args).some((arg) => arg.startsWith('+') || /^:./.test(arg));
}

/** True where the whole folder, or the whole tree, is meant. */
function namesAll(args: readonly string[]): boolean {
  return operands(args).some((path) => path === '.' || path === ':/' || path === ':');
}

/** True for what throws away work that was not kept elsewhere. */
export function discardsWork(sub: string, args: readonly string[]): boolean {
  const [first = ''] = args;
  if (sub === 'reset') return hasOption(args, '', ['--hard']);
  if (sub === 'clean') return hasOption(args, 'f', ['--force']);
  if (sub === 'checkout' || sub === 'switch')
    return hasOption(args, 'f', ['--force', '--discard-changes']) || namesAll(args);
  if (sub === 'restore') return namesAll(args) && !args.includes('--staged');
  if (sub === 'stash') return first === 'drop' || first === 'clear';
  if (sub === 'branch')
    return hasOption(args, 'D') || (hasOption(args, 'd', ['--delete']) && hasOption(args, 'f', ['--force']));
  if (sub === 'worktree') return first === 'remove' && hasOption(args, 'f', ['--force']);
  if (sub === 'reflog') return first === 'expire' || first === 'delete';
  if (sub === 'update-ref') return args.includes('-d');
  if (sub === 'gc') return hasOption(args, '', ['--prune']);
  return sub === 'filter-branch' || sub === 'filter-repo';
}
