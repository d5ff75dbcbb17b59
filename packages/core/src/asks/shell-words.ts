/** Where a command reads from or writes to. */
interface Redirect {
  operator: string;
  target: string;
}

/** One program with its arguments, as a shell would see it: quotes resolved, variables left as they are written. */
export interface ShellCommand {
  words: string[];
  redirects: Redirect[];
  /** It reads what the command before it writes. */
  piped: boolean;
}

/** A line of shell taken apart. */
export interface ShellLine {
  commands: ShellCommand[];
  /** Part of it is known only once it runs: a substitution, a function, an escape. */
  hidden: boolean;
}

/**
 * Takes a command line apart as a POSIX shell would. It never fails: what is not closed ends with the text. What stands
 * inside a substitution or a group is a command like any other.
 */
export function shellWords(text: string): ShellLine {
  const reader = new Reader(text);
  reader.read();
  return { commands: reader.commands.filter(isSomething), hidden: reader.hidden };
}

function isSomething({ words, redirects }: ShellCommand): boolean {
  return words.length > 0 || redirects.length > 0;
}

/** A substitution that prints a here-document with a quoted end: what follows, up to that end, is plain text. */
const PLAIN_DOCUMENT = /\(cat[ \t]*<<[ \t]*'(\w+)'[ \t]*\n/y;
/** What may stand between the end of that document and the rest of the text. */
const CLOSE = /[ \t\n]*\)/y;

const BRACES = /(?<!\$)\{([^{}]*)\}/g;
const MOST_SPREAD = 64;

/** What a shell makes of braces in a word before all else: `-{f,u}` is two words. Undefined where that is too much to tell. */
function spread(word: string): string[] | undefined {
  const open = [word];
  const done: string[] = [];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (open.length + done.length > MOST_SPREAD) return undefined;
    let found: RegExpExecArray | undefined;
    for (const match of next.matchAll(BRACES)) {
      // A range of letters could be any option; one of numbers is none.
      if (/^[a-z]\.\.[a-z]/i.test(match[1] ?? '')) return undefined;
      if (match[1]?.includes(',') === true) found ??= match;
    }
    const [all = '', inner = ''] = found ?? [];
    const at = found?.index ?? 0;
    if (found === undefined) done.push(next);
    else
      for (const part of inner.split(',').toReversed())
        open.unshift(next.slice(0, at) + part + next.slice(at + all.length));
  }
  return done;
}

/** Reads from left to right, once. */
class Reader {
  readonly commands: ShellCommand[] = [];
  hidden = false;
  readonly #text: string;
  #at = 0;
  #word: string | undefined;
  #operator: string | undefined;
  /** The words that end the here-documents which begin with the next line, and how those are read. */
  #documents: { end: string; literal: boolean; indented: boolean }[] = [];
  #quoted = false;

  constructor(text: string) {
    this.#text = text;
    this.#begin(false);
  }

  read(): void {
    while (this.#at < this.#text.length) this.#step(this.#text[this.#at] ?? '');
    this.#endWord();
  }

  #step(char: string): void {
    this.#at++;
    if (char === ' ' || char === '\t' || char === '\r') return this.#endWord();
    if (char === '\n') return this.#endLine();
    if (char === '#' && this.#word === undefined) return this.#skipTo('\n');
    if (char === '\\') return this.#escape();
    if (char === "'") return this.#quote("'");
    if (char === '"') return this.#quote('"');
    if (char === '`') return this.#substitute();
    if (char === '$') return this.#dollar();
    if (char === '<' || char === '>') return this.#redirect(char);
    if (char === ';' || char === ')') return this.#endCommand(false);
    if (char === '(') {
      // Directly after a word it defines a function, or a list that nobody looks into.
      if (this.#word !== undefined) this.hidden = true;
      return this.#endCommand(false);
    }
    if (char === '|') {
      const or = this.#take('|');
      if (!or) this.#take('&');
      return this.#endCommand(!or);
    }
    if (char === '&') {
      if (this.#text[this.#at] === '>') return;
      this.#take('&');
      return this.#endCommand(false);
    }
    this.#put(char);
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #put(text: string): void {
    this.#word = (this.#word ?? '') + text;
  }

  #skipTo(char: string): void {
    const end = this.#text.indexOf(char, this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #escape(): void {
    if (this.#take('\n')) return;
    this.#quoted = true;
    this.#put(this.#text[this.#at++] ?? '');
  }

  #quote(mark: string): void {
    this.#quoted = true;
    this.#put('');
    for (
      let char = this.#text[this.#at++];
      char !== undefined && char !== mark;
      char = this.#text[this.#at++]
    ) {
      const next = this.#text[this.#at] ?? '';
      if (mark === '"' && char === '\\' && '"\\$`\n'.includes(next)) {
        this.#at++;
        if (next !== '\n') this.#put(next);
        continue;
      }
      if (mark === '"' && char === '$' && next === '(' && this.#plainDocument()) continue;
      if (mark === '"' && (char === '`' || (char === '$' && next === '('))) this.hidden = true;
      this.#put(char);
    }
  }

  /** Takes `(cat <<'EOF' … EOF)` as the text it stands for. The first one that fails hides the line: no other is tried. */
  #plainDocument(): boolean {
    if (this.hidden) return false;
    const end = this.#match(PLAIN_DOCUMENT, this.#at)?.[1];
    if (end === undefined) return false;
    const begin = PLAIN_DOCUMENT.lastIndex;
    const { from, to } = this.#endOfDocument(begin, end, false);
    if (this.#match(CLOSE, to) === null) return false;
    this.#at = CLOSE.lastIndex;
    let last = from;
    while (last > begin && this.#text[last - 1] === '\n') last--;
    this.#put(this.#text.slice(begin, last));
    return true;
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }

  /** Where the line stands that ends a here-document; at the end of the text when there is none. */
  #endOfDocument(begin: number, end: string, indented: boolean): { from: number; to: number } {
    const text = this.#text;
    for (let from = begin; from < text.length;) {
      const newline = text.indexOf('\n', from);
      const to = newline < 0 ? text.length : newline;
      const line = text.slice(from, to);
      if ((indented ? line.replace(/^\t+/, '') : line) === end) return { from, to };
      from = to + 1;
    }
    return { from: text.length, to: text.length };
  }

  #substitute(): void {
    this.hidden = true;
    this.#endCommand(false);
  }

  #dollar(): void {
    // $'…' writes characters by their numbers.
    if (this.#text[this.#at] === "'") this.hidden = true;
    if (this.#text.startsWith('((', this.#at)) return this.#arithmetic();
    if (this.#take('(')) return this.#substitute();
    this.#put('$');
  }

  #arithmetic(): void {
    const begin = this.#at;
    this.#skipTo('))');
    this.#at = Math.min(this.#text.length, this.#at + 2);
    const inner = this.#text.slice(begin, this.#at);
    if (/`|\$\(/.test(inner)) this.hidden = true;
    this.#put(`$${inner}`);
  }

  #redirect(char: string): void {
    // A number before it names what is redirected.
    if (this.#word !== undefined && /^\d+$/.test(this.#word) && !this.#quoted) this.#word = undefined;
    this.#endWord();
    if (this.#take('(')) return this.#substitute();
    let operator = char;
    while (operator.length < 3 && '<>&|-'.includes(this.#text[this.#at] ?? ' '))
      operator += this.#text[this.#at++];
    this.#operator = operator;
  }

  #endWord(): void {
    const word = this.#word;
    const quoted = this.#quoted;
    this.#word = undefined;
    this.#quoted = false;
    const command = this.commands.at(-1);
    if (word === undefined || command === undefined) return;
    const operator = this.#operator;
    this.#operator = undefined;
    if (operator === undefined) this.#endArgument(command, word, quoted);
    else {
      command.redirects.push({ operator, target: word });
      if (operator === '<<' || operator === '<<-')
        this.#documents.push({ end: word, literal: quoted, indented: operator === '<<-' });
    }
  }

  #endArgument(command: ShellCommand, word: string, quoted: boolean): void {
    const words = quoted && /\s/.test(word) ? [word] : spread(word);
    command.words.push(...(words ?? [word]));
    if (words === undefined) this.hidden = true;
  }

  #endCommand(piped: boolean): void {
    this.#endWord();
    const last = this.commands.at(-1);
    // What a pipe leads into may begin with a bracket or on the next line.
    const still = last !== undefined && !isSomething(last) && last.piped;
    this.#begin(piped || still);
  }

  #endLine(): void {
    this.#endCommand(false);
    for (const { end, literal, indented } of this.#documents) {
      const { from, to } = this.#endOfDocument(this.#at, end, indented);
      if (!literal && /`|\$\(/.test(this.#text.slice(this.#at, from))) this.hidden = true;
      this.#at = to + 1;
    }
    this.#documents = [];
  }

  #begin(piped: boolean): void {
    this.#operator = undefined;
    this.commands.push({ words: [], redirects: [], piped });
  }
}
