import { resolve } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { doubtCalculated } from "./arithmetic.ts";
import { loadBashParser, MAX_PARSED_CHARACTERS, type SyntaxNode } from "./parse-bash.ts";
import { StatementReader } from "./read-statements.ts";
import { type Reading, type Scope, effectsOfReading, shorten } from "./reading.ts";

// Of texts within the line, as `sh -c` has them.
const MAX_TEXTS = 100;
// Blanks that only one of bash and the grammar takes for blanks, and what neither should meet in a line.
const STRANGE = /[\0\r\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/**
 * What a command line for bash would start, read and write, as far as reading it tells. It never guesses in favour of the line: what
 * it can't follow is `unknown`. Nothing is run and no file is looked at, so the same line always means the same.
 *
 * `cwd` is the workspace, in which the line starts: what it reads there asks nobody. Without it, relative paths count as inside.
 */
export async function readCommandLine(text: string, { cwd }: { readonly cwd?: string | undefined } = {}): Promise<CallEffects> {
  if (text.length > MAX_PARSED_CHARACTERS)
    return {
      unknown: [`The command line has ${text.length} characters; of more than ${MAX_PARSED_CHARACTERS} it isn't told what they do.`],
    };
  const workspace = cwd === undefined ? undefined : resolve(cwd);
  const parse = await loadBashParser();
  let texts = 0;
  const reading: Reading = {
    readText(part: string, scope: Scope) {
      if (STRANGE.test(part)) reading.unknown.add("It holds characters that are blanks to some and not to others.");
      const root = ++texts > MAX_TEXTS ? undefined : parse(part);
      if (root === undefined) reading.unknown.add(`\`${shorten(part.slice(0, 200))}\` is too long or too involved to be read.`);
      else {
        // The parser supplies what a text lacks, and goes on as if it were there; bash may read it as something else.
        if (lacksSomething(root)) reading.unknown.add(`\`${shorten(part.slice(0, 200))}\` is not understood as bash.`);
        new StatementReader(part, reading).statements([root], scope);
      }
    },
    workspace,
    commands: [],
    reads: new Set(),
    writes: new Set(),
    mayTouch: new Set(),
    hosts: new Set(),
    unknown: new Set(),
    functions: new Set(),
    texts: new Set(),
    calculated: new Set(),
    depth: 0,
  };
  reading.readText(text, { folders: [workspace ?? "."] });
  doubtCalculated(reading);
  return effectsOfReading(reading);
}

function lacksSomething(root: SyntaxNode): boolean {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === "MISSING") return true;
    open.push(...node.children);
  }
  return false;
}
