import { normalize, resolve } from "node:path";
import type { CallEffects, CallPlace } from "@keelson/protocol";
import { doubtCalculated } from "./arithmetic.ts";
import { checkRepositories } from "./git/check-repositories.ts";
import { VariableMentions } from "./constants.ts";
import { StatementReader } from "./read-statements.ts";
import { Surroundings } from "./surroundings.ts";
import { type Reading, type Scope, effectsOfReading, shorten } from "./reading.ts";
import { parseBash } from "./syntax/parse-bash.ts";
import { checkOptionNames } from "../../json/option-names.ts";

type PlaceOptions = { readonly [Name in keyof CallPlace]?: CallPlace[Name] | undefined };

/** A place of a call serves as it is: `effectsOf: ({ command }, where) => readCommandLine(command, where)`. Only its `cwd` is read. */
interface CommandLineOptions extends PlaceOptions {
  readonly folder?: string | undefined;
  readonly findSecrets?: boolean | undefined;
  readonly findDestroyed?: boolean | undefined;
}

/** Longer lines aren't parsed. What people and models write by hand is shorter; what is longer carries a file in it. */
const MAX_PARSED_CHARACTERS = 64 * 1024;
// Of texts within the line, as `sh -c` has them.
const MAX_TEXTS = 100;
// Blanks that only one of bash and the grammar takes for blanks, and what neither should meet in a line.
const STRANGE = /[\0\r\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/**
 * Returns what a command line for bash would start, read and write, as far as reading it tells. It never guesses in favour of the line: what
 * it can't follow is `unknown`. Nothing is run. The only files that are read are the settings of git, if the line has a command of git that only
 * looks: with settings that may start a program it does not run unasked.
 *
 * `cwd` is the workspace, and `folder`, relative to it, is where the line starts if that is not the workspace itself. What it reads there asks nobody. Links that lead out of it are followed, and patterns are
 * held against the names of its files. Without it, relative paths count as inside. With `findSecrets`, the files with secrets in a folder that
 * a command goes through are among what it reads: say so if nothing else keeps commands from them. With `findDestroyed` the effects say which files the
 * line deletes or overwrites.
 */
export async function readCommandLine(text: string, options: CommandLineOptions = {}): Promise<CallEffects> {
  checkOptionNames("readCommandLine", options, {
    ...{ cwd: true, folder: true, findSecrets: true, findDestroyed: true },
    ...{ kept: true, context: true, exec: true, environment: true },
  });
  const { cwd, folder = ".", findSecrets: findsSecrets = false, findDestroyed: findsDestroyed = false } = options;
  if (text.length > MAX_PARSED_CHARACTERS)
    return {
      unknown: [`The command line has ${text.length} characters; of more than ${MAX_PARSED_CHARACTERS} it isn't told what they do.`],
    };
  const workspace = cwd === undefined ? undefined : resolve(cwd);
  let texts = 0;
  const reading: Reading = {
    readText(part: string, scope: Scope) {
      if (STRANGE.test(part)) reading.unknown.add("It holds characters that are blanks to some and not to others.");
      if (++texts > MAX_TEXTS || part.length > MAX_PARSED_CHARACTERS) {
        reading.unknown.add(`\`${shorten(part.slice(0, 200))}\` is too long or too involved to be read.`);
        return;
      }
      const { statements, doubts, notUnderstood } = parseBash(part);
      if (notUnderstood !== undefined)
        reading.unknown.add(`\`${shorten(notUnderstood.slice(0, 200) || part.slice(-60))}\` is not understood as bash.`);
      for (const doubt of doubts) reading.unknown.add(`It can't be told how bash reads \`${shorten(doubt)}\`.`);
      new StatementReader(reading, new VariableMentions(part)).statements(statements, scope);
    },
    workspace,
    surroundings: workspace === undefined ? undefined : new Surroundings(workspace),
    findsSecrets,
    commands: [],
    reads: new Set(),
    writes: new Set(),
    destroys: findsDestroyed ? new Map() : undefined,
    mayTouch: new Set(),
    hosts: new Set(),
    unknown: new Set(),
    repositories: [],
    functions: new Set(),
    numbers: new Set(),
    texts: new Set(),
    calculated: new Set(),
    usesConstants: false,
    hasTrap: false,
    depth: 0,
    visited: 0,
  };
  reading.readText(text, { folders: [workspace === undefined ? normalize(folder) : resolve(workspace, folder)] });
  doubtCalculated(reading);
  if (reading.hasTrap && reading.usesConstants) reading.unknown.add("What `trap` sets between the commands can't be read.");
  await checkRepositories(reading);
  return effectsOfReading(reading);
}
