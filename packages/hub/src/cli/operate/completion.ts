import type { Command, Option } from 'commander';

import { printLines } from '../output.ts';
import { COMMAND_NAMES, createProgram } from '../program.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** Each asks the program itself: what it answers is a line a word, and what it means after a tab. */
const SCRIPTS: Record<Shell, string> = {
  bash: `_parley() {
  local word line
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # Bash takes words apart at colons; what it left is put together again.
  local typed="\${COMP_LINE:0:COMP_POINT}"; typed="\${typed##*[[:space:]]}"
  local cut=""; [[ "$typed" == *:* ]] && cut="\${typed%"\${typed##*:}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word line; do
    [[ "$word" == "$typed"* ]] && COMPREPLY+=("\${word#"$cut"}")
  done < <(parley complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _parley parley`,
  zsh: `#compdef parley
_parley() {
  local -a found
  local word line
  while IFS=$'\\t' read -r word line; do
    found+=("\${word//:/\\\\:}\${line:+:$line}")
  done < <(parley complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe parley found; else _files; fi
}
if [[ "$funcstack[1]" == _parley ]]; then _parley "$@"; else compdef _parley parley; fi`,
  fish: `function __parley_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (parley complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c parley -f -a '(__parley_complete)'`,
};

/** Where each shell looks, for the help of the command. */
const PLACES = `
Examples:
  parley completion bash > ~/.local/share/bash-completion/completions/parley
  parley completion zsh > ~/.zsh/completions/_parley      # a folder of your $fpath
  parley completion fish > ~/.config/fish/completions/parley.fish`;

/** `parley completion`: the script that makes a shell complete commands, options, threads, agents and asks. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion <shell>')
    .description('the script by which bash, zsh or fish completes what you type')
    .addHelpText('after', PLACES)
    .action((shell: string, _options: unknown, command: Command) => {
      if (!isShell(shell)) command.error(`error: there is none for ${shell}; bash, zsh and fish have one`);
      printLines([SCRIPTS[shell]]);
    });
}

function isShell(word: string): word is Shell {
  return Object.hasOwn(SCRIPTS, word);
}

/** `parley complete -- words…`: what the last word could become; the scripts ask it. */
export function addCompleteCommand(program: Command): void {
  program
    .command('complete [words...]', { hidden: true })
    .action(async (words: string[], _options: unknown, command: Command) => {
      const found = await wordsFor(words, command);
      const last = words.at(-1) ?? '';
      printLines(
        found
          .filter(([word]) => word.startsWith(last))
          .map(([word, what]) => `${word}\t${what.replaceAll(/\s+/g, ' ').slice(0, 60)}`),
      );
    });
}

type Words = [word: string, what: string][];

async function wordsFor(typed: readonly string[], asked: Command): Promise<Words> {
  const before = typed.slice(0, -1);
  const last = typed.at(-1) ?? '';
  const name = before.find((word) => COMMAND_NAMES.includes(word));
  const program = await createProgram(name ?? (last.startsWith('-') ? 'exit-codes' : ''));
  let at = program;
  const given: string[] = [];
  let waiting: Option | undefined;
  for (const word of before) {
    if (waiting !== undefined) {
      // Such as the folder whose hub is to be asked.
      asked.setOptionValue(waiting.attributeName(), word);
      waiting = undefined;
    } else if (word.startsWith('-')) waiting = takesValue(optionsOf(at), word);
    else {
      const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (next === undefined) given.push(word);
      else at = next;
    }
  }
  if (waiting !== undefined) return valuesOf(waiting.argChoices, waiting.attributeName(), asked);
  if (last.startsWith('-'))
    return optionsOf(at).map((option) => [option.long ?? option.short ?? '', option.description]);
  if (at.commands.length > 0)
    return at
      .createHelp()
      .visibleCommands(at)
      .map((one) => [one.name(), one.description()]);
  const place = at.registeredArguments[given.length] ?? at.registeredArguments.find((one) => one.variadic);
  return place === undefined ? [] : valuesOf(place.argChoices, place.name(), asked);
}

function optionsOf(command: Command): Option[] {
  const shared = command.parent === null ? [] : optionsOf(command.parent);
  const own = command.options.toSorted(
    (a, b) => Number(a.helpGroupHeading !== undefined) - Number(b.helpGroupHeading !== undefined),
  );
  return [...own, ...shared].filter(({ hidden }) => !hidden);
}

function takesValue(options: readonly Option[], word: string): Option | undefined {
  const option = options.find(({ long, short }) => long === word || short === word);
  return option?.required === true || option?.optional === true ? option : undefined;
}

/** What an argument of this name can be: its choices, or what the hub that runs has of it. */
async function valuesOf(
  choices: readonly string[] | undefined,
  name: string,
  asked: Command,
): Promise<Words> {
  if (choices !== undefined) return choices.map((word) => [word, '']);
  if (name === 'shell') return Object.keys(SCRIPTS).map((word) => [word, '']);
  try {
    const { namesOf } = await import('./complete-from-hub.ts');
    return await namesOf(name, asked);
  } catch {
    // No hub runs, or it refuses: there is nothing to offer, and nothing to say in the midst of a line.
    return [];
  }
}
