import { type FilePatch, type Hunk, hunkLine, type HunkLine, type ParsedPatch } from "./file-patch.ts";

const NUMBERED = /^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+ ?(.*)$/;
const BARE = /^@@(?: (?!-\d)(.*?))?(?: ?@@)?\s*$/;
// Mails end with this line, and the version of git.
const SIGNATURE = /^-- ?$/;
const NO_LINE_END = /^\\ ?No newline/i;

/** Reads a unified diff, of git or of `diff -u`. Counts in the heads of hunks may be wrong, and numbers may be missing. */
export function parseUnifiedDiff(lines: readonly string[]): ParsedPatch {
  const reader = new DiffReader(lines);
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof PatchProblem) return { problem: error.message, line: error.line };
    throw error;
  }
}

class PatchProblem extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

interface Names {
  before: string | undefined;
  after: string | undefined;
  isNew: boolean;
  isDeleted: boolean;
}

class DiffReader {
  readonly #lines: readonly string[];
  readonly #files: FilePatch[] = [];
  readonly #notes: string[] = [];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): ParsedPatch {
    // Words of a model, or of a mail, before the first head.
    while (this.#at < this.#lines.length && !this.#isHead(this.#at) && !/^@@/.test(this.#line())) this.#at++;
    while (this.#at < this.#lines.length) {
      if (SIGNATURE.test(this.#line())) break;
      if (this.#line().trim() === "") this.#at++;
      else this.#readFile();
    }
    return this.#files.length === 0 ? { problem: "the diff names no file" } : { files: this.#files, notes: this.#notes };
  }

  #line(): string {
    return this.#lines[this.#at] ?? "";
  }

  #isHead(at: number): boolean {
    const line = this.#lines[at] ?? "";
    if (line.startsWith("diff --git ")) return true;
    return line.startsWith("--- ") && this.#lines[at + 1]?.startsWith("+++ ") === true;
  }

  #fail(message: string): never {
    throw new PatchProblem(message, this.#at + 1);
  }

  #readFile(): void {
    const names: Names = { before: undefined, after: undefined, isNew: false, isDeleted: false };
    let isRename = false;
    if (this.#line().startsWith("diff --git ")) {
      const both = /^diff --git (?:a\/(.+) b\/(.+)|(\S+) (\S+))$/.exec(this.#line());
      [names.before, names.after] = [both?.[1] ?? both?.[3], both?.[2] ?? both?.[4]];
      this.#at++;
      for (; this.#at < this.#lines.length && !/^(?:--- |@@|diff --git )/.test(this.#line()); this.#at++) {
        const line = this.#line();
        if (line.startsWith("rename from ")) [names.before, isRename] = [unquoted(line.slice(12)), true];
        else if (line.startsWith("rename to ")) [names.after, isRename] = [unquoted(line.slice(10)), true];
        else if (line.startsWith("new file mode ")) this.#readMode(line, names);
        else if (line.startsWith("deleted file mode ")) names.isDeleted = true;
        else if (/^(?:copy (?:from|to)|Binary files|GIT binary patch|old mode|new mode)/.test(line))
          this.#fail(
            `the diff has a line that cannot be applied: ${JSON.stringify(line)}. Use a command for it, and leave it out of the patch`,
          );
        else if (line.trim() !== "" && !/^(?:index |similarity index |dissimilarity index )/.test(line))
          this.#fail(`a line of the diff is not understood: ${JSON.stringify(line)}`);
      }
    }
    if (this.#isHead(this.#at) && this.#line().startsWith("--- ")) {
      const [before, after] = [nameOf(this.#line().slice(4)), nameOf((this.#lines[this.#at + 1] as string).slice(4))];
      const hasPrefixes = (before ?? "a/").startsWith("a/") && (after ?? "b/").startsWith("b/");
      const isHalf = before === `a/${after}` || after === `b/${before}`;
      const bare = (name: string | undefined): string | undefined =>
        name !== undefined && (hasPrefixes || isHalf) ? name.replace(/^[ab]\//, "") : name;
      names.isNew ||= before === undefined;
      names.isDeleted ||= after === undefined;
      [names.before, names.after] = [bare(before) ?? bare(after), bare(after) ?? bare(before)];
      this.#at += 2;
    }
    const { before, after, isNew, isDeleted } = names;
    if (before === undefined || after === undefined) this.#fail('the diff names no file: begin it with "--- a/PATH" and "+++ b/PATH"');
    const hunks = this.#readHunks();
    if (isNew) return void this.#files.push({ kind: "add", path: after, content: this.#addedContent(hunks, after) });
    if (isDeleted) {
      if (hunks.some(({ lines }) => lines.some(({ kind }) => kind !== "removed")))
        this.#fail(`the diff deletes ${before}, but has lines that do not begin with "-"`);
      const lines = hunks.flatMap((hunk) => hunk.lines.map(({ text }) => text));
      return void this.#files.push({ kind: "delete", path: before, lines: hunks.length === 0 ? undefined : lines });
    }
    if (before !== after && !isRename)
      this.#fail(
        `the diff has two names, ${before} and ${after}: for a rename, add the lines "rename from ${before}" and "rename to ${after}"`,
      );
    if (hunks.length === 0 && !isRename) this.#fail(`the diff changes nothing in ${before}: it has no lines behind "@@"`);
    this.#files.push({ kind: "update", path: before, moveTo: isRename && before !== after ? after : undefined, hunks });
  }

  #readMode(line: string, names: Names): void {
    names.isNew = true;
    if (line.endsWith("100755")) this.#notes.push("the mode of new files is not set: make a program executable with a command");
    else if (!line.endsWith("100644")) this.#fail(`the diff makes a file that is no plain one: ${JSON.stringify(line)}`);
  }

  #addedContent(hunks: readonly Hunk[], path: string): string {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    if (lines.some(({ kind }) => kind !== "added"))
      this.#fail(`the diff makes the new file ${path}, but has lines that do not begin with "+"`);
    const end = hunks.at(-1)?.lastLineEnd === "removed" ? "" : "\n";
    return lines.map(({ text }, index) => text + (index === lines.length - 1 ? end : "\n")).join("");
  }

  #readHunks(): Hunk[] {
    const hunks: Hunk[] = [];
    while (/^@@/.test(this.#line())) {
      const numbered = NUMBERED.exec(this.#line());
      const bare = numbered === null ? BARE.exec(this.#line()) : null;
      if (numbered === null && bare === null) this.#fail(`the head of a hunk is not understood: ${JSON.stringify(this.#line())}`);
      const header = (numbered?.[5] ?? bare?.[1] ?? "").trim();
      this.#at++;
      const counts = numbered === null ? undefined : ([Number(numbered[2] ?? 1), Number(numbered[4] ?? 1)] as const);
      const { lines, isCounted, lastLineEnd } = this.#readBody(counts);
      const start = isCounted ? Number(numbered?.[1]) : undefined;
      if (lines.every(({ kind }) => kind === "context")) {
        if (lines.some(({ raw }) => raw.trim() !== "")) this.#fail('a hunk has no lines that begin with "-" or "+"');
        continue;
      }
      hunks.push({ headers: header === "" ? [] : [header], lines, atEnd: false, start, lastLineEnd });
    }
    return hunks;
  }

  /** The lines of a hunk: as many as its head says if that can be, else all up to the next head. */
  #readBody(counts: readonly [number, number] | undefined): {
    readonly lines: HunkLine[];
    readonly isCounted: boolean;
    readonly lastLineEnd: Hunk["lastLineEnd"];
  } {
    const lines: HunkLine[] = [];
    const unended = new Set<HunkLine["kind"]>();
    let [before, after] = [0, 0];
    const isFull = (): boolean => counts !== undefined && before === counts[0] && after === counts[1];
    for (; this.#at < this.#lines.length; this.#at++) {
      const raw = this.#line();
      if (NO_LINE_END.test(raw)) {
        const last = lines.at(-1);
        if (last !== undefined) unended.add(last.kind);
        continue;
      }
      if (isFull() && (!/^[-+ ]./.test(raw) || SIGNATURE.test(raw))) break;
      if (
        /^@@/.test(raw) ||
        (this.#isHead(this.#at) && (isFull() || raw.startsWith("diff ") || /^@@/.test(this.#lines[this.#at + 2] ?? "")))
      )
        break;
      const line = hunkLine(raw);
      lines.push(line);
      if (line.kind !== "added") before++;
      if (line.kind !== "removed") after++;
    }
    const isCounted = isFull();
    while (!isCounted && lines.at(-1)?.raw === "") lines.pop();
    const [removedOnly, addedOnly] = [unended.has("removed") && !unended.has("added"), unended.has("added") && !unended.has("removed")];
    return {
      lines,
      isCounted,
      lastLineEnd: unended.has("context") ? undefined : removedOnly ? "added" : addedOnly ? "removed" : undefined,
    };
  }
}

/** The name in a `---` or `+++` line; `undefined` for `/dev/null`. */
function nameOf(text: string): string | undefined {
  const name = unquoted((text.split("\t")[0] as string).replace(/ +\d{4}-\d\d-\d\d .*$/, "").trim());
  return name === "/dev/null" ? undefined : name;
}

/** Git quotes names with other characters, and writes their bytes as octal numbers. */
function unquoted(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  const bytes: number[] = [];
  const inner = Buffer.from(name.slice(1, -1), "utf8").toString("latin1");
  for (const [, octal, escaped, plain] of inner.matchAll(/\\([0-7]{3})|\\(.)|([^\\])/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push((ESCAPES[escaped ?? ""] ?? escaped ?? (plain as string)).charCodeAt(0));
  }
  return Buffer.from(bytes).toString("utf8");
}
const ESCAPES: { readonly [escaped: string]: string } = { n: "\n", t: "\t", r: "\r" };
