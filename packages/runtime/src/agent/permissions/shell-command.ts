/**
 * A command line as permission rules see it. This is a cautious reading, not a shell parser: where it can't tell, it says
 * "compound", and it offers more parts than a shell would run. So an allow rule may miss a harmless command (which then
 * asks), while a deny rule may catch one that only mentions what it denies.
 */
export interface ShellCommand {
  /** True unless this is surely one program with arguments: no operator, substitution, redirection or comment outside quotes. */
  readonly compound: boolean;
  /** Every stretch of the text that may be a command of its own. Made when first asked for. */
  readonly parts: readonly string[];
}

export function readShellCommand(text: string): ShellCommand {
  let parts: readonly string[] | undefined;
  return {
    compound: isCompound(text),
    get parts(): readonly string[] {
      parts ??= possibleCommands(text);
      return parts;
    },
  };
}

const OPERATORS: ReadonlySet<string> = new Set([";", "&", "|", "\n", "\r", "\0", "`", ">", "<", "(", ")"]);
const PLAIN_VARIABLE = /^\$\{\w+\}/;

function isCompound(text: string): boolean {
  let quote: "" | "'" | '"' = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (quote === "'") {
      if (character === "'") quote = "";
    } else if (character === "\\") {
      if (index + 1 === text.length) return true;
      index++;
    } else if (character === "$") {
      const next = text[index + 1];
      // $(…) and $((…)) run commands, $'…' quotes by other rules, ${…} may do either unless it only names a variable.
      if (next === "(" || next === "[" || (next === "'" && quote === "")) return true;
      if (next === "{" && !PLAIN_VARIABLE.test(text.slice(index, index + 256))) return true;
    } else if (quote === '"') {
      if (character === '"') quote = "";
      else if (character === "`" || character === "\0") return true;
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if (OPERATORS.has(character)) {
      return true;
    } else if (character === "#" && (index === 0 || /\s/.test(text[index - 1]!))) {
      // A quote inside a comment is none: `npm test # it's` would hide the next line from this reading.
      return true;
    }
  }
  return quote !== "";
}

/** Words after which another command begins, or that run their arguments as one. */
const INTRODUCERS: ReadonlySet<string> = new Set([
  "!",
  "{",
  "if",
  "then",
  "elif",
  "else",
  "while",
  "until",
  "do",
  "time",
  "coproc",
  "function",
]);
const RUNNERS: ReadonlySet<string> = new Set(
  (
    "bash busybox builtin chroot command dash doas env eval exec find flock ionice ksh nice nohup npx parallel runuser script setpriv setsid sh " +
    "stdbuf su sudo systemd-run taskset time timeout unshare watch xargs zsh"
  ).split(" "),
);
const ASSIGNMENT = /^\w+\+?=/;

function possibleCommands(text: string): readonly string[] {
  const found = new Set<string>([text]);
  // Once as written, once with quoting taken away: `r\m` and `"rm"` are rm. Operators and quotes both end a part, since
  // `bash -c "rm x; y"` runs what it quotes.
  addParts(found, text.replace(/\\\r?\n/g, " ").split(/[;&|\n\r\0`<>(){}'"]+/));
  addParts(
    found,
    text
      .replace(/\\\r?\n/g, "")
      .replace(/\$?["']|\\/g, "")
      .split(/[;&|\n\r\0`<>()]+/),
  );
  return [...found];
}

function addParts(found: Set<string>, pieces: readonly string[]): void {
  for (const piece of pieces) {
    let rest = piece.replace(/\s+/g, " ").trim();
    let inRunner = false;
    while (rest !== "") {
      const space = rest.indexOf(" ");
      const word = space < 0 ? rest : rest.slice(0, space);
      const program = word.slice(word.lastIndexOf("/") + 1);
      found.add(rest);
      if (program !== word && program !== "") found.add(program + rest.slice(word.length));
      inRunner ||= RUNNERS.has(program);
      if (!inRunner && !INTRODUCERS.has(word) && !ASSIGNMENT.test(word)) break;
      rest = space < 0 ? "" : rest.slice(space + 1);
    }
  }
}
