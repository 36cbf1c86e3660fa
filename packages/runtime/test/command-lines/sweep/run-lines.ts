import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { programEntry } from "../../../src/environment/command-line/programs/index.ts";
import type { HostileFolder } from "./hostile-folder.ts";
import { quoted } from "./sweep-lines.ts";

const run = promisify(execFile);
const AT_A_TIME = 8;
const KILOBYTES = 128;
const BATCH = 400;

/** The output of a line, and true if it started the marker. */
export interface LineResult {
  readonly output: string;
  readonly marked: boolean;
}

/** Runs lines of simple commands in the folder, in few processes of bash and several at a time, with little time and output for each. */
export async function runLines(lines: readonly string[], folder: HostileFolder, seconds = 2): Promise<readonly LineResult[]> {
  const outputs = join(folder.root, "outputs");
  await rm(folder.marked, { force: true });
  await mkdir(outputs, { recursive: true });
  for (let from = 0; from < lines.length; from += BATCH) {
    const batch = lines.slice(from, from + BATCH).map((line, index) => {
      const number = from + index;
      return [
        `SWEEP_LINE=${number} timeout -s KILL ${seconds} ${startOf(line)} >'${join(outputs, String(number))}' 2>&1 </dev/null &`,
        ...(index < AT_A_TIME ? [] : ["wait -n"]),
      ].join("\n");
    });
    const script = join(folder.root, "batch.sh");
    await writeFile(script, `cd '${folder.workspace}'\nulimit -f ${KILOBYTES}\n${batch.join("\n")}\nwait\n`);
    await run("bash", ["--noprofile", "--norc", script], { env: environment(folder), maxBuffer: 2 ** 24 });
  }
  const marked = new Set(
    (await readFile(folder.marked, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map(Number),
  );
  return Promise.all(
    lines.map(async (_, index) => ({
      output: await readFile(join(outputs, String(index)), "latin1").catch(() => ""),
      marked: marked.has(index),
    })),
  );
}

/** The words that start a line: it may begin with a builtin, which needs a shell of its own. */
function startOf(line: string): string {
  return programEntry(line.split(" ", 1)[0] as string)?.builtin === true ? `bash --noprofile --norc -c ${quoted(line)}` : line;
}

/** The environment of the lines: a home of its own, and no variable by which programs find other settings. */
export function environment({ root }: HostileFolder): NodeJS.ProcessEnv {
  const { PATH, LANG, JAVA_HOME } = process.env;
  return { PATH, LANG, JAVA_HOME, HOME: join(root, "home"), TERM: "dumb" };
}

/** True if the text shows the word: as it is, in another case, backwards, in hexadecimal or in base64. */
export function shows(text: string, word: string): boolean {
  const dense = text.toLowerCase().replace(/[\s\0]+/g, "");
  const bytes = Buffer.from(word);
  const hex = bytes.toString("hex");
  // A word has three forms in base64, by its place; the characters at both ends depend on what surrounds it.
  const coded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4)
      .toLowerCase(),
  );
  return [word, [...word].toReversed().join(""), hex, ...coded].some((form) => dense.includes(form.toLowerCase()));
}
