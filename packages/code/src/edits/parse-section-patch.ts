import { type FilePatch, type Hunk, hunkLine, type HunkLine, type ParsedPatch } from "./file-patch.ts";

const SECTION = /^\*\*\* (Add|Update|Delete) File:\s*(.+?)\s*$/;
const MOVE = /^\*\*\* (?:Move|Rename)(?: File)? to:\s*(.+?)\s*$/i;
const BEGIN = /^\*\*\* Begin Patch\s*$/;
const END = /^\*\*\* End Patch\s*$/;
const END_OF_FILE = /^\*\*\* End of File\s*$/;
const HEADER = /^@@(?: (.*?))?(?:\s+@@)?\s*$/;
const NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@ ?(.*))?$/;

/** Reads a patch of sections, one for each file, between `*** Begin Patch` and `*** End Patch`. */
export function parseSectionPatch(lines: readonly string[]): ParsedPatch {
  const end = lines.findIndex((line) => END.test(line));
  if (end === -1) return { problem: 'the patch has no "*** End Patch": it may have been cut off. Send the whole patch again' };
  const rest = lines.findIndex((line, index) => index > end && line.trim() !== "");
  if (rest !== -1)
    return {
      problem: `text follows behind "*** End Patch". Put all files between one "*** Begin Patch" and one "*** End Patch"`,
      line: rest + 1,
    };
  const begin = lines.findIndex((line) => BEGIN.test(line));
  const files: FilePatch[] = [];
  let at = begin + 1;
  while (at < end && lines[at]?.trim() === "") at++;
  while (at < end) {
    const found = SECTION.exec(lines[at] as string);
    if (found === null)
      return {
        problem: `a line stands outside of a section: ${JSON.stringify(lines[at])}. A section begins with "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH"`,
        line: at + 1,
      };
    const [, kind, name] = found as unknown as readonly [string, string, string];
    const path = name.replace(/^(["'`])(.*)\1$/, "$2");
    const start = ++at;
    while (at < end && !SECTION.test(lines[at] as string)) at++;
    const section = readSection(kind, path, lines.slice(start, at), start);
    if ("problem" in section) return section;
    files.push(section);
  }
  return files.length === 0 ? { problem: "the patch has no section" } : { files, notes: [] };
}

type Failed = { readonly problem: string; readonly line: number };

function readSection(kind: string, path: string, body: readonly string[], before: number): FilePatch | Failed {
  if (kind === "Add") return readAdded(path, body, before);
  if (kind === "Update") return readUpdated(path, body, before);
  const extra = body.findIndex((line) => line.trim() !== "");
  if (extra !== -1)
    return { problem: `the section that deletes ${path} has a line: nothing follows "*** Delete File"`, line: before + extra + 1 };
  return { kind: "delete", path, lines: undefined };
}

function readAdded(path: string, given: readonly string[], before: number): FilePatch | Failed {
  const body = given.slice(0, given.findLastIndex((line) => line.trim() !== "" && !END_OF_FILE.test(line)) + 1);
  const unmarked = body.findIndex((line) => !line.startsWith("+") && line.trim() !== "");
  if (unmarked !== -1)
    return {
      problem: `a line of the new file ${path} does not begin with "+": ${JSON.stringify(body[unmarked])}`,
      line: before + unmarked + 1,
    };
  return { kind: "add", path, content: body.map((line) => `${line.slice(1)}\n`).join("") };
}

function readUpdated(path: string, body: readonly string[], before: number): FilePatch | Failed {
  let moveTo: string | undefined;
  const hunks: Hunk[] = [];
  let headers: string[] = [];
  let lines: HunkLine[] = [];
  const close = (atEnd: boolean): void => {
    const kept = atEnd ? lines : withoutLastBlank(lines);
    if (kept.length > 0) hunks.push({ headers, lines: kept, atEnd, start: undefined, lastLineEnd: undefined });
    if (kept.length > 0) headers = [];
    lines = [];
  };
  for (const [index, line] of body.entries()) {
    // Models mix in the heads of a unified diff.
    const isHead = line.startsWith("--- ") && body[index + 1]?.startsWith("+++ ") === true && /^@@/.test(body[index + 2] ?? "");
    if (hunks.length === 0 && lines.length === 0 && (isHead || (line.startsWith("+++ ") && body[index - 1]?.startsWith("--- ") === true)))
      continue;
    const move = MOVE.exec(line);
    if (move !== null && hunks.length === 0 && lines.length === 0) {
      moveTo = (move[1] as string).replace(/^(["'`])(.*)\1$/, "$2");
      continue;
    }
    if (END_OF_FILE.test(line)) {
      close(true);
      continue;
    }
    const header = HEADER.exec(line);
    if (header !== null) {
      close(false);
      const text = header[1]?.trim() ?? "";
      const numbers = NUMBERS.exec(text);
      const named = numbers === null ? text : (numbers[1]?.trim() ?? "");
      if (named !== "") headers.push(named);
      continue;
    }
    if (line.startsWith("*** ")) return { problem: `a line is not understood: ${JSON.stringify(line)}`, line: before + index + 1 };
    lines.push(hunkLine(line));
  }
  close(false);
  if (hunks.length === 0 && moveTo === undefined)
    return { problem: `the section that updates ${path} changes nothing: it has no lines that begin with "-" or "+"`, line: before };
  const idle = hunks.find((hunk) => hunk.lines.every(({ kind }) => kind === "context"));
  if (idle !== undefined)
    return {
      problem: `a part of the section that updates ${path} has no lines that begin with "-" or "+": ${JSON.stringify(idle.lines[0]?.raw)}`,
      line: before,
    };
  return { kind: "update", path, moveTo, hunks };
}

/** A blank line at the end of a hunk separates it from the next one as often as it is text of the file. */
function withoutLastBlank(lines: readonly HunkLine[]): HunkLine[] {
  const last = lines.findLastIndex(({ raw }) => raw !== "");
  return lines.slice(0, last + 1);
}
