/** An entry of a file of servers in our spelling. */
export interface ServerEntry {
  readonly fields: { readonly [name: string]: unknown };
  readonly problems: readonly EntryProblem[];
}

export interface EntryProblem {
  /** The end of a sentence that begins with the name of the server. */
  readonly message: string;
  /** The server is not used. */
  readonly isLeftOut: boolean;
}

type Fields = { readonly [name: string]: unknown };

/** Other names of a field, in the order in which they count. */
const NAMES: { readonly [theirs: string]: string } = {
  httpUrl: "url",
  serverUrl: "url",
  transport: "type",
  transportType: "type",
  environment: "env",
};

/** Fields of others that have no counterpart, with what to do instead. A server whose field confines it is left out, because it would do more than it was given. */
const NOT_TAKEN: { readonly [field: string]: { readonly instead: string; readonly confines?: true } } = {
  trust: { instead: "no file says that calls run unasked: allow its tools with a permission rule, as in mcp__name__tool" },
  alwaysAllow: { instead: "no file of servers says that calls run unasked: allow its tools with a permission rule, as in mcp__name__tool" },
  autoApprove: { instead: "no file of servers says that calls run unasked: allow its tools with a permission rule, as in mcp__name__tool" },
  includeTools: { instead: "deny the other tools with a permission rule, as in mcp__name__tool, and remove the field", confines: true },
  excludeTools: { instead: "deny these tools with a permission rule, as in mcp__name__tool, and remove the field", confines: true },
  disabledTools: { instead: "deny these tools with a permission rule, as in mcp__name__tool, and remove the field", confines: true },
  envFile: { instead: 'name each variable in "env", as in { "TOKEN": "${TOKEN}" }' },
  headersHelper: { instead: 'name each header in "headers", as in { "Authorization": "Bearer ${TOKEN}" }' },
  timeout: { instead: 'some mean seconds and some milliseconds: write "timeoutMs", in milliseconds' },
};

/** Variables of editors, with what to write instead. */
const EDITOR_VARIABLES: { readonly [name: string]: string } = {
  workspaceFolder: 'paths are relative to the project: write "."',
  workspaceRoot: 'paths are relative to the project: write "."',
  workspaceFolderBasename: "write the name of the folder",
  cwd: 'paths are relative to the project: write "."',
  userHome: "write ${HOME}",
  pathSeparator: 'write "/"',
};

/**
 * Reads an entry as other programs write it. `${env:NAME}` becomes `${NAME}`, `httpUrl` and `serverUrl` become `url`, and so on; what has no
 * counterpart becomes a problem with the remedy.
 */
export function readEntryOfOthers(entry: Fields): ServerEntry {
  const problems: EntryProblem[] = [];
  const fields = new Map<string, unknown>();
  for (const [given, value] of Object.entries(entry)) {
    const unused = Object.hasOwn(NOT_TAKEN, given) ? NOT_TAKEN[given] : undefined;
    if (unused !== undefined) {
      const { instead, confines = false } = unused;
      problems.push({
        message: confines ? `has "${given}", which is not supported: ${instead}.` : `has "${given}", which is passed over: ${instead}.`,
        isLeftOut: confines,
      });
      continue;
    }
    const name = Object.hasOwn(NAMES, given) ? (NAMES[given] as string) : given;
    if (name !== given && Object.hasOwn(entry, name)) {
      problems.push({ message: `has "${name}" and "${given}": remove one of them.`, isLeftOut: true });
      continue;
    }
    if (name !== given && fields.has(name)) problems.push({ message: `has two fields that mean "${name}": remove one.`, isLeftOut: true });
    fields.set(
      name,
      withOwnVariables(value, (message) => void problems.push({ message, isLeftOut: true })),
    );
  }
  const command = fields.get("command");
  if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string")) {
    const args = fields.get("args");
    fields.set("command", command[0]);
    fields.set("args", [...command.slice(1), ...(Array.isArray(args) ? args : [])]);
  }
  return { fields: Object.fromEntries(fields), problems };
}

/** The same value, with `${NAME}` in its texts for `${env:NAME}`. */
function withOwnVariables(value: unknown, tell: (message: string) => void): unknown {
  if (typeof value === "string")
    return value.replaceAll(/\$\{([^}]*)\}/g, (written, inside: string) => {
      const variable = /^env:([A-Za-z_]\w*)$/.exec(inside)?.[1];
      if (variable !== undefined) return `\${${variable}}`;
      const problem = problemOf(inside);
      if (problem !== undefined) tell(`has ${written}, ${problem}.`);
      return written;
    });
  if (Array.isArray(value)) return value.map((one) => withOwnVariables(one, tell));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withOwnVariables(one, tell)]));
}

function problemOf(inside: string): string | undefined {
  if (/^[A-Za-z_]\w*(?::-[^}]*)?$/.test(inside)) {
    const name = inside.replace(/:-.*$/s, "");
    return Object.hasOwn(EDITOR_VARIABLES, name) ? `a variable of editors: ${EDITOR_VARIABLES[name]}` : undefined;
  }
  const input = /^input:([\w.-]+)$/.exec(inside)?.[1];
  if (input !== undefined)
    return `which an editor would ask you for: set a variable of the environment, such as ${variableNamed(input)}, and write \${${variableNamed(input)}}`;
  return "which is not understood: write ${NAME} or ${NAME:-default} for a variable of the environment";
}

function variableNamed(input: string): string {
  const name = input.replaceAll(/\W/g, "_").toUpperCase();
  return /^\d/.test(name) ? `_${name}` : name;
}
