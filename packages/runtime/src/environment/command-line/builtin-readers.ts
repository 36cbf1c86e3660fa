import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import { readTestWords } from "./test-commands.ts";

const HARMLESS: ProgramFacts = { readOnly: true };

const evaluate: ProgramReader = (args) => ({
  unknown: "What `eval` runs is code that rules don't read.",
  ...(args.length > 0 && args.every(({ literal }) => literal) && { code: [args.map(({ text }) => text).join(" ")] }),
});

const source: ProgramReader = (args, { name }) => ({
  unknown: `What \`${name}\` runs in this shell is a file that rules don't read.`,
  scripts: args.slice(0, 1),
});

const trap: ProgramReader = (args) => {
  const [action] = args[0]?.text === "--" ? args.slice(1) : args;
  if (action === undefined || (action.literal && /^(?:-|-[lp]|)$/.test(action.text))) return HARMLESS;
  return action.literal ? { readOnly: true, code: [action.text] } : { unknown: "What `trap` runs can't be read." };
};

const entering: ProgramReader = (args, { name }) => {
  const rest = args[0]?.literal === true && /^(?:--|-[LP])$/.test(args[0].text) ? args.slice(1) : args;
  const [target] = rest;
  if (name !== "cd" || rest.length !== 1 || target === undefined || !target.literal || target.text.startsWith("-") || target.globs)
    return { entersFolder: "unclear" };
  return { readOnly: true, looks: [target], entersFolder: target };
};

/** Settings of the shell under which it reads a line as it does without them. */
const shopt: ProgramReader = (args) =>
  args.every(({ text, literal }) => literal && /^(?:-[pqsu]|nullglob|failglob|inherit_errexit|checkwinsize|huponexit|lastpipe)$/.test(text))
    ? HARMLESS
    : { unknown: "`shopt` changes how the line is read." };

const asks =
  (why: string): ProgramReader =>
  () => ({ unknown: why });

const changesNames = (name: string): [string, ProgramReader] => [name, asks(`\`${name}\` changes what names of commands mean.`)];

/** Builtins that change the shell itself, or whose words have a grammar of their own. */
export const builtinReaders: ReadonlyMap<string, ProgramReader> = new Map<string, ProgramReader>([
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["trap", trap],
  ["cd", entering],
  ["pushd", entering],
  ["popd", entering],
  ["shopt", shopt],
  ["test", (args) => readTestWords(args)],
  ["[", (args) => (args.at(-1)?.text === "]" ? readTestWords(args.slice(0, -1)) : { unlisted: ["["] })],
  changesNames("alias"),
  changesNames("unalias"),
  changesNames("enable"),
]);
