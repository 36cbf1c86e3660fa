import type { CommandEffect } from "@keelson/protocol";
import { readArithmetic } from "./arithmetic.ts";
import { type Assignment, unlistedAssignments } from "./assignments.ts";
import { textOf, patternOf } from "./command-text.ts";
import { factsOf } from "./facts-of-program.ts";
import { loadedFileIn } from "./loaded-files.ts";
import { noteDestroyed } from "./destroyed-files.ts";
import { noteWithin, within } from "./working-folder.ts";
import { placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import { type Reading, type Scope, shorten } from "./reading.ts";
import { type Redirection, applyRedirection } from "./redirections.ts";
import type { ShellWord } from "./shell-word.ts";

export interface CommandParts {
  /** Its text as it is written, for commands that consist of assignments or redirections alone. */
  readonly text: string;
  readonly assignments: readonly Assignment[];
  readonly words: readonly ShellWord[];
  readonly redirections: readonly Redirection[];
  /** `export` and the like, which the grammar knows as words of the language. */
  readonly declaration?: string;
}

interface Context {
  readonly caution: string | undefined;
  readonly fed: boolean;
  /** Assignments before it that may change what runs. */
  readonly unlisted: readonly string[];
  readonly depth: number;
  /** The whole text of the runner. */
  readonly startedBy?: string;
}

interface WordsOfCommand {
  readonly text: string;
  readonly first: ShellWord;
  readonly args: readonly ShellWord[];
  /** Other spellings. */
  readonly aliases: readonly string[];
}

const MAX_RUNNERS = 12;
const ASSIGNS = /=/;
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function in { } [[ ]] !".split(" "),
);

/** Reads one command: its redirections, its assignments, and the program with what that starts in turn. */
export function readSimpleCommand(
  { text, assignments, words, redirections, declaration }: CommandParts,
  scope: Scope,
  reading: Reading,
): void {
  const cautions = redirections.map((redirection) => applyRedirection(redirection, scope, reading));
  for (const { caution, redirects } of assignments) {
    if (redirects && caution !== undefined) reading.unknown.add(caution);
  }
  const fromAssignments = assignments.find(({ caution }) => caution !== undefined)?.caution;
  const redirected = cautions.find((caution) => caution !== undefined) ?? scope.caution;
  const fed = scope.fed === true || redirections.some(({ kind }) => kind === "read" || kind === "read-write" || kind === "text");
  if (declaration !== undefined) return readDeclaration({ text, assignments, words, declaration }, redirected, scope, reading);
  if (words.length === 0) {
    if (assignments.length === 0 && redirections.length === 0) return;
    const destroysNamed = reading.destroys !== undefined && { destroysNamed: true };
    reading.commands.push({ text, ...(redirected === undefined ? { readOnly: true } : { caution: redirected, ...destroysNamed }) });
    setLasting(assignments, scope);
    return;
  }
  readProgram(words, { caution: redirected ?? fromAssignments, fed, unlisted: unlistedAssignments(assignments), depth: 0 }, scope, reading);
}

/** Without a program, assignments hold for the commands after them. */
function setLasting(assignments: readonly Assignment[], scope: Scope): void {
  const code = assignments.find(({ holdsCode }) => holdsCode)?.caution;
  if (code !== undefined) scope.caution ??= code;
}

function readDeclaration(
  {
    text,
    assignments,
    words,
    declaration,
  }: {
    readonly text: string;
    readonly assignments: readonly Assignment[];
    readonly words: readonly ShellWord[];
    readonly declaration: string;
  },
  redirected: string | undefined,
  scope: Scope,
  reading: Reading,
): void {
  const facts = factsOf(declaration, words, false);
  const isExported = declaration === "export" || words.some(({ text: flag }) => /^-\w*x/.test(flag));
  const unlisted = [...(facts.unlisted ?? []), ...(isExported ? unlistedAssignments(assignments) : [])];
  if (facts.unknown !== undefined) reading.unknown.add(facts.unknown);
  for (const name of facts.sets ?? []) reading.texts.add(name);
  if (isExported) for (const name of facts.sets ?? []) if (!unlisted.includes(name)) unlisted.push(name);
  const caution = redirected ?? facts.caution;
  reading.commands.push({
    text,
    ...(unlisted.length > 0 && { unlisted }),
    ...(caution !== undefined ? { caution } : unlisted.length === 0 && { readOnly: true }),
  });
  setLasting(assignments, scope);
}

function readProgram(words: readonly ShellWord[], context: Context, scope: Scope, reading: Reading): void {
  const [first, ...args] = words as readonly [ShellWord, ...ShellWord[]];
  const text = textOf(words);
  const name = first.text.slice(first.text.lastIndexOf("/") + 1);
  const aliases = name === first.text || name === "" ? [] : [textOf([{ ...first, text: name }, ...args])];
  const note = (command: Omit<CommandEffect, "text">): void =>
    void reading.commands.push({ text, ...(aliases.length > 0 && { aliases }), ...command });
  // Such a word is an assignment to bash after `time` and `coproc`, and to `env`.
  if (!first.literal || first.globs || first.tilde || ASSIGNS.test(first.text)) {
    reading.unknown.add(`Which program \`${shorten(text)}\` starts can't be read.`);
    note({ ...(context.caution !== undefined && { caution: context.caution }) });
    return;
  }
  if (context.depth > MAX_RUNNERS || (KEYWORDS.has(first.text) && !first.quoted) || first.text === "") {
    reading.unknown.add(`It can't be told how bash reads \`${shorten(text)}\`.`);
    note({ caution: "It is not read as bash would read it." });
    return;
  }
  if (reading.functions.has(first.text)) {
    // What it does with its arguments stands elsewhere in the line.
    if (args.length > 0) reading.mayTouch.add("*");
    note({ caution: `${first.text} is a function of this line, not the program of that name.` });
    return;
  }
  if (name !== first.text && reading.writes.has(placesOf(first, scope, reading)?.[0]?.path ?? ""))
    reading.unknown.add(`${first.text} is written by this line.`);
  apply(factsOf(first.text, args, context.fed), { text, aliases, args, first }, context, scope, reading);
}

function apply(facts: ProgramFacts, command: WordsOfCommand, context: Context, scope: Scope, reading: Reading): void {
  const { text, args, first } = command;
  const name = first.text.slice(first.text.lastIndexOf("/") + 1);
  if (first.text === "let") for (const { text: expression } of args) readArithmetic(expression, reading);
  for (const variable of facts.sets ?? []) reading.texts.add(variable);
  if (facts.unknown !== undefined) reading.unknown.add(facts.unknown);
  for (const host of facts.hosts ?? []) reading.hosts.add(host);
  const { isInside, leadingOut } = noteWithin(facts, scope, reading);
  for (const word of facts.scripts ?? []) {
    if (placesOf(word, scope, reading)?.some(({ path }) => isWritten(path, reading.writes)) === true)
      reading.unknown.add(`${word.text} is written by this line.`);
  }
  const written = loadedFileIn(reading.writes, name);
  if (written !== undefined) reading.unknown.add(`${first.text} may run what this line writes into ${written}.`);
  const caution = context.caution ?? facts.caution;
  // Text that another command prints is harmless only to what is.
  const printed = facts.readOnly === true ? [] : args.filter((word) => word.substitutes).map((word) => word.text);
  const unlisted = [...context.unlisted, ...(facts.unlisted ?? []), ...leadingOut, ...printed];
  const readOnly = facts.readOnly === true && facts.unknown === undefined && caution === undefined && unlisted.length === 0 && isInside;
  const startedBy = context.startedBy?.endsWith(` ${text}`) === true ? context.startedBy : undefined;
  const isNamed = noteDestroyed(facts, context, within(facts, scope, reading), reading);
  const pattern = patternOf([first, ...args]);
  const aliases = [...command.aliases, ...otherSpellings(facts, first, args)];
  reading.commands.push({
    text,
    ...(aliases.length > 0 && { aliases }),
    ...(startedBy !== undefined && { startedBy }),
    ...(readOnly && { readOnly }),
    ...(isNamed && !readOnly && { destroysNamed: true }),
    ...(unlisted.length > 0 && { unlisted: [...new Set(unlisted)] }),
    ...(facts.unknownProgram === true && { unknownProgram: true }),
    ...(pattern !== text && { pattern }),
    ...(facts.repository !== undefined && (facts.here === "read" || facts.recurses === true || unlisted.length > 0) && { committed: true }),
    ...(caution !== undefined && { caution }),
  });
  if (readOnly && facts.repository !== undefined) {
    const shows = facts.here === "read" || facts.repository.fromTop;
    reading.repositories.push({ command: reading.commands.length - 1, folders: within(facts, scope, reading).folders ?? [], shows });
  }
  enter(facts, scope, reading);
  for (const words of facts.runs ?? []) readProgram(words, { ...context, depth: context.depth + 1, startedBy: text }, scope, reading);
  if (first.text === "trap" && (facts.code ?? []).length > 0) reading.hasTrap = true;
  // Another shell does not have the variables of this one.
  const { constants: _, ...inherited } = scope;
  for (const code of facts.code ?? [])
    reading.readText(code, {
      ...inherited,
      ...(context.caution !== undefined && { caution: context.caution }),
      ...(context.fed && { fed: true }),
    });
}

/** Names by which rules that deny find a command: those of the script that it runs and of its subcommand. */
function otherSpellings(facts: ProgramFacts, first: ShellWord, args: readonly ShellWord[]): readonly string[] {
  return [
    ...(facts.scripts ?? []).flatMap((script) => {
      const at = args.indexOf(script);
      if (at < 0) return [];
      const after = args.slice(at + 1);
      return [textOf([script, ...after]), textOf([{ ...script, text: script.text.slice(script.text.lastIndexOf("/") + 1) }, ...after])];
    }),
    ...(facts.alias === undefined ? [] : [textOf([first, ...facts.alias])]),
  ];
}

function enter({ entersFolder }: ProgramFacts, scope: Scope, reading: Reading): void {
  if (entersFolder === undefined) return;
  if (entersFolder === "unclear") scope.folders = undefined;
  else scope.folders = placesOf(entersFolder, scope, reading)?.map(({ path }) => path);
}

/** True if the line writes the script at this path, or a file that an interpreter may take for it: `x.js` or `x/index.js` for `x`. */
function isWritten(path: string, writes: ReadonlySet<string>): boolean {
  return [...writes].some((written) => written === path || written.startsWith(`${path}.`) || written.startsWith(`${path}/`));
}
