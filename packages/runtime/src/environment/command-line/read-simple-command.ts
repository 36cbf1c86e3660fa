import type { CommandEffect } from "@keelson/protocol";
import { readArithmetic } from "./arithmetic.ts";
import { type Assignment, isSteering } from "./assignments.ts";
import { factsOf } from "./facts-of-program.ts";
import { interpreterNamed } from "./interpreters.ts";
import { placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import { readsWhateverIsAdded } from "./read-only-programs.ts";
import { type Reading, type Scope, shorten } from "./reading.ts";
import { noteUnclearFiles } from "./unclear-files.ts";
import { loadedFileIn } from "./loaded-files.ts";
import { type Redirection, applyRedirection } from "./redirections.ts";
import { runners } from "./runners.ts";
import { shellBuiltins } from "./shell-builtins.ts";
import type { ShellWord } from "./shell-word.ts";

export interface CommandParts {
  /** As it is written, for commands that consist of assignments or redirections alone. */
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
  /** Its runner gives it more arguments. */
  readonly addsArguments?: boolean;
  /** What stands for them. */
  readonly placeholders?: readonly string[];
  readonly depth: number;
  /** The whole text of the runner. */
  readonly startedBy?: string;
}

const MAX_RUNNERS = 12;
const ASSIGNS = /=/;
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function in { } [[ ]] ! coproc time"
    .split(" ")
    .filter((word) => word !== "coproc" && word !== "time"),
);

/** One command: its redirections, its assignments, and the program with what that starts in turn. */
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
    reading.commands.push(effect(text, redirected));
    setLasting(assignments, scope);
    return;
  }
  readProgram(words, { caution: redirected ?? fromAssignments, fed, depth: 0 }, scope, reading);
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
  const facts = shellBuiltins.get(declaration)?.(words, { name: declaration, fed: false }) ?? {
    unknown: `What \`${shorten(text)}\` does can't be read.`,
  };
  if (facts.unknown !== undefined) reading.unknown.add(facts.unknown);
  noteNames(declaration, words, reading);
  reading.commands.push(effect(text, redirected ?? facts.caution));
  setLasting(assignments, scope);
}

/** Variables that a builtin sets by name hold text from then on. */
function noteNames(builtin: string, words: readonly ShellWord[], reading: Reading): void {
  if (!/^(?:read|mapfile|readarray|printf|getopts|export|declare|typeset|local|readonly|let)$/.test(builtin)) return;
  for (const { text } of words) {
    const name = /^\w+/.exec(text)?.[0];
    if (name !== undefined) reading.texts.add(name);
  }
}

function effect(text: string, caution: string | undefined): CommandEffect {
  return { text, ...(caution === undefined ? { readOnly: true } : { caution }) };
}

function readProgram(words: readonly ShellWord[], context: Context, scope: Scope, reading: Reading): void {
  const [first, ...args] = words as readonly [ShellWord, ...ShellWord[]];
  const text = words.map((word) => word.text).join(" ");
  const note = (command: Omit<CommandEffect, "text">): void => void reading.commands.push({ text, ...command });
  const startedBy = context.startedBy?.endsWith(` ${text}`) === true ? context.startedBy : undefined;
  const name = first.text.slice(first.text.lastIndexOf("/") + 1);
  const aliases = name === first.text || name === "" ? undefined : [[name, ...args.map((word) => word.text)].join(" ")];
  const named = { ...(aliases !== undefined && { aliases }) };
  const isAdded = context.placeholders?.some((placeholder) => first.text.includes(placeholder)) === true;
  // Such a word is an assignment to bash after `time` and `coproc`, and to `env`.
  if (!first.literal || first.globs || first.tilde || isAdded || ASSIGNS.test(first.text)) {
    reading.unknown.add(`Which program \`${shorten(text)}\` starts can't be read.`);
    note({ ...named, ...(context.caution !== undefined && { caution: context.caution }) });
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
  if (aliases !== undefined && reading.writes.has(placesOf(first, scope, reading.workspace)?.[0]?.path ?? ""))
    reading.unknown.add(`${first.text} is written by this line.`);
  const facts = factsOf(first.text, args, context.fed);
  apply(facts, { text, named: { ...named, ...(startedBy !== undefined && { startedBy }) }, args, first }, context, scope, reading);
}

function apply(
  facts: ProgramFacts,
  command: {
    readonly text: string;
    readonly named: { readonly aliases?: readonly string[]; readonly startedBy?: string };
    readonly args: readonly ShellWord[];
    readonly first: ShellWord;
  },
  context: Context,
  scope: Scope,
  reading: Reading,
): void {
  const { text, named, args, first } = command;
  if (first.text === "let") for (const { text: expression } of args) readArithmetic(expression, reading);
  noteNames(first.text, args, reading);
  for (const { text: given } of args) {
    const variable = first.text === "read" || first.text === "printf" ? /^\w+$/.exec(given)?.[0] : undefined;
    if (variable !== undefined && isSteering(variable) && first.text === "read")
      reading.unknown.add(`${variable} is set, which changes what runs.`);
  }
  if (facts.unknown !== undefined) reading.unknown.add(facts.unknown);
  if (runsWhatIsAdded(first.text, facts, context)) reading.unknown.add(`What ${first.text} runs is added to its arguments.`);
  for (const host of facts.hosts ?? []) reading.hosts.add(host);
  const insideReads = (facts.reads ?? []).map((word) => placeInto(word, reading.reads, scope, reading));
  const insideLooks = (facts.looks ?? []).map((word) => placeInto(word, undefined, scope, reading));
  for (const word of facts.writes ?? []) placeInto(word, reading.writes, scope, reading);
  for (const word of facts.scripts ?? []) {
    if (placesOf(word, scope, reading.workspace)?.some(({ path }) => reading.writes.has(path)) === true)
      reading.unknown.add(`${word.text} is written by this line.`);
  }
  noteUnclearFiles(
    {
      name: first.text.slice(first.text.lastIndexOf("/") + 1),
      args: [...args],
      touched: [...(facts.reads ?? []), ...(facts.looks ?? []), ...(facts.writes ?? []), ...(facts.scripts ?? [])],
      addsArguments: context.addsArguments === true,
    },
    scope,
    reading,
  );
  const written = loadedFileIn(reading.writes, first.text.slice(first.text.lastIndexOf("/") + 1));
  if (written !== undefined) reading.unknown.add(`${first.text} may run what this line writes into ${written}.`);
  const substitutes = args.some((word) => word.substitutes);
  const caution =
    context.caution ??
    facts.caution ??
    (substitutes && !harmlessWithAnything(first.text) ? "Some of its arguments are what another command prints." : undefined);
  const added = context.addsArguments !== true || readsWhateverIsAdded(first.text);
  const readOnly =
    facts.readOnly === true &&
    facts.unknown === undefined &&
    caution === undefined &&
    added &&
    [...insideReads, ...insideLooks].every(Boolean);
  const why = caution ?? (context.addsArguments === true && !added ? "Some of its arguments are read from its input." : undefined);
  const aliases = [
    ...(named.aliases ?? []),
    // `sh ./evil arg` is `evil arg` to rules that deny.
    ...(facts.scripts ?? []).flatMap((script) => {
      const at = args.indexOf(script);
      if (at < 0) return [];
      const after = args.slice(at + 1).map((word) => word.text);
      return [[script.text, ...after].join(" "), [script.text.slice(script.text.lastIndexOf("/") + 1), ...after].join(" ")];
    }),
    ...(facts.alias === undefined ? [] : [[first.text, ...facts.alias.map((word) => word.text)].join(" ")]),
  ];
  reading.commands.push({
    text,
    ...(aliases.length > 0 && { aliases }),
    ...(named.startedBy !== undefined && { startedBy: named.startedBy }),
    ...(readOnly && { readOnly }),
    ...(why !== undefined && { caution: why }),
  });
  enter(facts, scope, reading);
  for (const words of facts.runs ?? [])
    readProgram(
      words,
      {
        ...context,
        depth: context.depth + 1,
        startedBy: text,
        caution: context.caution,
        addsArguments: facts.addsArguments === true || context.addsArguments === true,
        placeholders: [...(context.placeholders ?? []), ...(facts.placeholder === undefined ? [] : [facts.placeholder])],
      },
      scope,
      reading,
    );
  for (const code of facts.code ?? [])
    reading.readText(code, {
      ...scope,
      ...(context.caution !== undefined && { caution: context.caution }),
      ...(context.fed && { fed: true }),
    });
}

/** `xargs sh -c`, `xargs env`, `find -exec sh {}`: what is added is, or becomes part of, what runs. */
function runsWhatIsAdded(program: string, facts: ProgramFacts, { addsArguments, placeholders = [] }: Context): boolean {
  if (addsArguments !== true) return false;
  const texts = [...(facts.code ?? []), ...(facts.scripts ?? []).map(({ text }) => text)];
  if (texts.some((text) => placeholders.some((placeholder) => text.includes(placeholder)))) return true;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const startsAny = runners.has(name) || interpreterNamed(name) !== undefined;
  return startsAny && facts.runs === undefined && texts.length === 0;
}

/** Whether its place is known and within the workspace; a pattern may not reach for names that begin with a dot. */
function placeInto(word: ShellWord, into: Set<string> | undefined, scope: Scope, reading: Reading): boolean {
  const places = placesOf(word, scope, reading.workspace);
  if (places === undefined) return false;
  for (const { path } of places) into?.add(path);
  const reachesHidden = word.globs && /(?:^|\/)(?:\.[^/]*[*?[{]|[[{?@+!])/.test(word.text);
  return places.length > 0 && places.every(({ inside, path }) => inside || path === "/dev/null") && !reachesHidden;
}

function harmlessWithAnything(name: string): boolean {
  return /^(?:echo|printf|true|false|:|test|\[|exit|return|export|basename|dirname|expr|seq|sleep)$/.test(name);
}

function enter({ entersFolder }: ProgramFacts, scope: Scope, reading: Reading): void {
  if (entersFolder === undefined) return;
  if (entersFolder === "unclear") scope.folders = undefined;
  else scope.folders = placesOf(entersFolder, scope, reading.workspace)?.map(({ path }) => path);
}
