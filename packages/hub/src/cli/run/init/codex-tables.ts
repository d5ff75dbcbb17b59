/** A file of Codex with the tables of one server apart from all else, each line as it is. */
interface Tables {
  own: string;
  rest: string;
}

const HEADER = /^\s*\[+\s*([^\]#]+)\]/;
/** Stands before the next table, and belongs to whoever wrote it. */
const BETWEEN = /^\s*(?:#|$)/;

/** Tells the tables of a server from the rest of the file, which is a person's: Codex's own command loses their comments. */
export function tablesOf(toml: string, name: string): Tables {
  const path = `mcp_servers.${name}.`;
  let own = '';
  let rest = '';
  let isOwn = false;
  /** Blank lines and comments since the last line of ours. */
  let between = '';
  for (const line of toml.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const header = HEADER.exec(line)?.[1]?.replaceAll(/["'\s]/g, '');
    if (header !== undefined) {
      const was = isOwn;
      isOwn = `${header}.`.startsWith(path);
      if (isOwn && !was) rest = rest.replace(/(\n)\r?\n$/, '$1');
    }
    if (isOwn && BETWEEN.test(line)) {
      between += line;
      continue;
    }
    if (isOwn) own += between + line;
    else rest += between + line;
    between = '';
  }
  return { own, rest: rest + between };
}

/** The file with these tables at its end. */
export function withTables(rest: string, tables: string): string {
  if (rest === '') return tables;
  return `${rest}${rest.endsWith('\n') ? '' : '\n'}\n${tables}`;
}
