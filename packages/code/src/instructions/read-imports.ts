import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { realpath } from "node:fs/promises";
import { type InstructionFile, readInstructionFile } from "./instruction-file.ts";

export interface ReadImportsOptions {
  /** The folder that no file may lead out of. Absent: the file is the person's own. */
  readonly within?: string | undefined;
  readonly userHome?: string | undefined;
}

const MAX_DEPTH = 5;
const MAX_IMPORTS = 32;
const MAX_FILE_BYTES = 64 * 1024;
/** Folders that begin with a dot and hold texts for people and agents. */
const OPEN_FOLDERS: ReadonlySet<string> = new Set([".claude", ".keelson", ".agents", ".github", ".cursor", ".docs"]);

/** A file that a file of instructions names. */
interface Import {
  /** The path as it is written, without the `@`. */
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

/**
 * Reads a file of instructions with the files that it imports: `@docs/style.md`, at the begin of a word and outside of code. An import is added
 * behind the text that names it, under its name. Each file is read once, to a depth of five, so that a cycle ends. The digest is that of all
 * files together: a change of an import is a change of what the person trusted.
 */
export async function readWithImports(
  path: string,
  { within, userHome = homedir() }: ReadImportsOptions,
): Promise<InstructionFile | undefined> {
  const file = await readInstructionFile(path, MAX_FILE_BYTES, within);
  if (file?.digest === undefined) return file;
  const imports: Import[] = [];
  const notes: string[] = file.note === undefined ? [] : [file.note];
  const seen = new Set([await realpath(path)]);
  const read = async (text: string, folder: string, depth: number): Promise<void> => {
    for (const name of importsIn(text)) {
      const target = name.startsWith("~/") ? join(userHome, name.slice(2)) : resolve(folder, name);
      // The AGENTS.md of the same folder is read by itself.
      if (basename(target).startsWith("AGENTS.") && dirname(target) === dirname(path)) continue;
      const real = await realpath(target).catch(() => undefined);
      if (real === undefined) {
        // Without an ending it is more likely a name of a person or a package.
        if (/\.\w+$/.test(name)) notes.push(`@${name} is not imported: there is no such file.`);
        continue;
      }
      if (seen.has(real)) continue;
      const problem =
        depth > MAX_DEPTH || imports.length >= MAX_IMPORTS ? "too many files import one another" : reasonNotImported(real, within);
      if (problem !== undefined) {
        notes.push(`@${name} is not imported: ${problem}.`);
        continue;
      }
      seen.add(real);
      const imported = await readInstructionFile(target, MAX_FILE_BYTES, within);
      if (imported === undefined) continue;
      if (imported.digest === undefined || imported.text.includes("\0")) {
        notes.push(`@${name} is not imported: ${imported.note ?? "it is no text."}`);
        continue;
      }
      if (imported.note !== undefined) notes.push(`@${name}: ${imported.note}`);
      imports.push({ name, text: imported.text, digest: imported.digest });
      await read(imported.text, dirname(real), depth + 1);
    }
  };
  await read(file.text, dirname(path), 1);
  if (imports.length === 0) return notes.length === 0 ? file : { ...file, note: notes.join(" ") };
  const digest = createHash("sha256")
    .update(JSON.stringify([file.digest, imports.map(({ name, digest: of }) => [name, of])]))
    .digest("hex");
  const text = [file.text, ...imports.map((one) => `Imported as @${one.name}:\n\n${one.text}`)].join("\n\n");
  return {
    path,
    text,
    digest,
    own: file.text,
    imports: imports.map(({ name }) => name),
    ...(notes.length > 0 && { note: notes.join(" ") }),
  };
}

/** True if a text imports the AGENTS.md beside it and says nothing else. */
export function onlyImportsAgents(text: string): boolean {
  return /^@(?:\.\/)?AGENTS\.md$/.test(text.trim());
}

/** The paths that a text imports, each once, in their order. What is in code, in fences or between backticks, is none. */
export function importsIn(text: string): readonly string[] {
  const found: string[] = [];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    for (const [, name = ""] of line.replaceAll(/(`+)[^`]*\1/g, " ").matchAll(/(?<![^\s(*_>-])@((?:~\/)?[\w.+/-]*\w)/g)) found.push(name);
  }
  return [...new Set(found)];
}

function reasonNotImported(real: string, within: string | undefined): string | undefined {
  if (within === undefined) return undefined;
  const parts = relative(within, real).split(sep);
  if (parts[0] === "..") return "it leads out of the project; import it in ~/.claude/CLAUDE.md, which is your own";
  const hidden = parts.find((part, index) => part.startsWith(".") && !(index < parts.length - 1 && OPEN_FOLDERS.has(part)));
  return hidden === undefined ? undefined : `hidden files such as ${hidden} may hold secrets`;
}
