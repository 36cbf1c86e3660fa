import type { Constant, Constants } from "./reading.ts";
import type { Expansion, Word, WordPart } from "./syntax/syntax-tree.ts";
import { isOrdinary } from "./variables.ts";

/** Builtins that set variables by name. */
const SETTERS = /\b(?:read|mapfile|readarray|printf|getopts|unset|let|declare|typeset|local|readonly|export)\b/;
/** Text that stays one word without quotes, and matches no files. */
const ONE_WORD = /^[\w./:@%+=,-]+$/;
const NAME = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/;

/** The names in a text that are not expansions: a variable that is named once is set once, and nothing else can set it. */
export class VariableMentions {
  readonly #text: string;
  #counts: Map<string, number> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** True if the text sets the variable in a single place. */
  isSetOnce(name: string): boolean {
    if (!isOrdinary(name)) return false;
    const counts = (this.#counts ??= this.#count());
    return counts?.get(name) === 1;
  }

  #count(): Map<string, number> {
    const counts = new Map<string, number>();
    const setsByName = SETTERS.test(this.#text);
    // A name may be put together from braces.
    if (setsByName && this.#text.includes("{")) return counts;
    const rest = this.#text.replace(/\$\{?[#!]?[A-Za-z_]\w*/g, " ");
    const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [, dash, name = ""] of rest.matchAll(/(-?)([A-Za-z_]\w*)/g)) {
      if (dash !== "-") add(name);
      // The name may be attached to an option: `read -ax`.
      else if (setsByName) for (let at = 1; at < name.length; at++) add(name.slice(at));
    }
    return counts;
  }
}

/** Returns the word with its constants in their places: variables that the line set to text, and the text of `$(cat <<'EOF' … EOF)`. */
export function withConstants({ text, parts, expansions }: Word, constants: Constants | undefined, hasCat: boolean): Word {
  if (parts.every(({ kind }) => kind === "plain" || kind === "quoted")) return { text, parts, expansions };
  return { text, parts: parts.map((part) => constantPart(part, expansions, constants, hasCat)), expansions };
}

function constantPart(part: WordPart, expansions: readonly Expansion[], constants: Constants | undefined, hasCat: boolean): WordPart {
  if (part.kind === "expansion") {
    const found = NAME.exec(part.text);
    const constant = found === null ? undefined : constants?.get((found[1] ?? found[2]) as string);
    return constant === undefined ? part : ofConstant(part, constant);
  }
  if (part.kind !== "substitution" || hasCat) return part;
  const expansion = expansions.find(({ text }) => text === part.text);
  const document = expansion?.kind === "substitution" ? printedDocument(expansion) : undefined;
  return document === undefined || (part.whole !== true && !ONE_WORD.test(document)) ? part : { kind: "quoted", text: document };
}

function ofConstant(part: WordPart, { text, isPattern }: Constant): WordPart {
  if (isPattern) return part.whole === true ? { kind: "plain", text } : part;
  return part.whole === true || ONE_WORD.test(text) ? { kind: "quoted", text } : part;
}

/** The text of a substitution that only prints a here-document in which nothing is expanded. */
function printedDocument({ statements, isUnsure }: Extract<Expansion, { kind: "substitution" }>): string | undefined {
  const [statement] = statements;
  if (statements.length !== 1 || isUnsure === true || statement?.isBackground !== false) return undefined;
  const command = unwrapped(statement.command);
  if (command?.kind !== "simple" || command.assignments.length > 0 || command.declaration !== undefined) return undefined;
  const [redirection] = command.redirections;
  const isCat = command.words.length === 1 && command.words[0]?.text === "cat";
  return isCat && command.redirections.length === 1 ? redirection?.document?.replace(/\n+$/, "") : undefined;
}

type Command = Extract<Expansion, { kind: "substitution" }>["statements"][number]["command"];

/** A list or pipeline of one command is that command. */
function unwrapped(command: Command): Command | undefined {
  if (command.kind !== "and-or" && command.kind !== "pipeline") return command;
  const [only] = command.commands;
  return command.commands.length === 1 && only !== undefined ? unwrapped(only) : undefined;
}
