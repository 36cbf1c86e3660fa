import { posix } from "node:path";
import { type Vfs, VfsError, type VfsFailure } from "@keelson/protocol";
import { expect, it } from "vitest";
import { absolute, failureOf, rootOf, textAt, type VfsSubject } from "./create-vfs.ts";
import { usesOf } from "./uses-of-path.ts";

const CONTENT = { "dir/a.txt": "a", "a.txt": "b" };
const NAMES = [
  ...["..", ".", "", "...", "dir", "a.txt", "A.TXT", "Dir"], // climbing, and case
  ...["é", "e\u0301", "ﬁ", "fi", "．．", "‥", "\u202etxt.exe", "\u200b", "\ufffd"], // forms of Unicode that some take for each other
  ...["-rf", "--", "~", "$HOME", "`id`", "a b", " ", "a ", "a.", "*", "?", "[a]", "{a,b}", "!a", "#a", "'", '"', "%2e%2e", "%00"], // shells, globs, URLs
  ...["a\\b", "..\\..", "C:", "C:\\", "con", "nul", "a:b", "\\\\host\\share"], // Windows
  ...["\n", "\r\n", "\t", "\u0001", "\u007f", "\u001b[2J"], // control characters
  ...["\0", "a\0.txt", "\ud800", "\udc00a", "n".repeat(255), "n".repeat(256), "é".repeat(127), "é".repeat(128)],
];
/** What a path is to a file system without links: a place in the root, or what may be said of it instead. */
function meaningOf(path: string, root: string): { readonly place: string } | { readonly refusals: readonly Partial<VfsFailure>[] } {
  if (path.includes("\0") || !path.isWellFormed()) return { refusals: [{ kind: "io", code: "EINVAL" }] };
  const whole = posix.resolve(root, path);
  const isLong = Buffer.byteLength(whole) > 4095 || path.split("/").some((name) => Buffer.byteLength(name) > 255);
  const isOutside = whole !== root && !whole.startsWith(root === "/" ? "/" : `${root}/`);
  const refusals: Partial<VfsFailure>[] = [];
  if (isLong) refusals.push({ kind: "io", code: "ENAMETOOLONG" });
  if (isOutside || (root === "/" && climbs(path))) refusals.push({ kind: "path-traversal", attempted: path, root });
  return refusals.length > 0 ? { refusals } : { place: whole === root ? "" : whole.slice(root === "/" ? 1 : root.length + 1) };
}

function climbs(path: string): boolean {
  let depth = 0;
  for (const name of path.split("/")) {
    if (name === "..") depth--;
    else if (name !== "" && name !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}

/** Whatever a path is made of, it is one place in the root or none. */
export function describeHostilePaths({ create, can }: VfsSubject): void {
  it("are each one place in the root, or refused, whatever they are made of [ER-16] [ET-11]", { timeout: 30_000 }, async () => {
    // A peer of this one law.
    const fc = await import("fast-check");
    const anyPath = fc
      .tuple(
        fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 6 }),
        fc.constantFrom("", "", "", "/", "./", "../", "//"),
        fc.boolean(),
      )
      .map(([names, start, isFolder]) => `${start}${names.join("/")}${isFolder ? "/" : ""}`);
    await fc.assert(
      fc.asyncProperty(anyPath, async (path) => {
        const files = await create(CONTENT);
        const meaning = meaningOf(path, rootOf(files));
        if ("refusals" in meaning) {
          for (const use of usesOf(files, path, can))
            expect(meaning.refusals).toContainEqual(pickKnown(await failureOf(use()), meaning.refusals));
          await expectContent(files, CONTENT, can);
          return;
        }
        const { place } = meaning;
        const known = (CONTENT as Readonly<Record<string, string>>)[place];
        if (known !== undefined) expect(await textAt(files, path)).toBe(known);
        else expect(["not-found", "is-directory", "not-directory"]).toContain((await failureOf(files.read(path))).kind);
        if (!can("write")) return;
        const isFree = place !== "" && place !== "dir" && !/^(?:dir\/a\.txt|a\.txt)\//.test(place);
        if (!isFree) {
          expect(["is-directory", "not-directory"]).toContain((await failureOf(files.write(path, "new"))).kind);
          await expectContent(files, CONTENT, can);
          return;
        }
        expect(await files.write(path, "new")).toEqual({ path: absolute(files, place), bytesWritten: 3 });
        expect(await textAt(files, absolute(files, place))).toBe("new");
        await expectContent(files, { ...CONTENT, [place]: "new" }, can);
        if (can("rm")) await files.rm(path);
        await expectContent(files, known === undefined ? CONTENT : without(CONTENT, place), can);
      }),
      { numRuns: 40 },
    );
  });

  if (can("write", "rm"))
    it("may be as long as the paths of Linux, and no longer", async () => {
      const files = await create(CONTENT);
      const left = 4095 - Buffer.byteLength(absolute(files, ""));
      const longest = `${"d".repeat(199)}/`.repeat((left - 1) / 200) + "f".repeat(left % 200 || 200);
      const written = await files.write(longest, "new").catch((error: unknown) => error);
      // What keeps files below a folder of its own may hold a little less.
      if (VfsError.is(written)) expect(written.failure).toMatchObject({ kind: "io", code: "ENAMETOOLONG" });
      else {
        expect(written).toEqual({ path: absolute(files, longest), bytesWritten: 3 });
        await expectContent(files, { ...CONTENT, [longest]: "new" }, can);
        await files.rm(longest.slice(0, 199), { recursive: true });
      }
      expect(await failureOf(files.write(`${longest}f`, "new"))).toMatchObject({ kind: "io", code: "ENAMETOOLONG" });
      await expectContent(files, CONTENT, can);
    });
}

/** As much of a failure as the refusals are told by. */
function pickKnown(failure: VfsFailure, refusals: readonly Partial<VfsFailure>[]): Partial<VfsFailure> {
  const like = refusals.find(({ kind }) => kind === failure.kind);
  return Object.fromEntries(Object.entries(failure).filter(([key]) => like !== undefined && key in like));
}

async function expectContent(files: Vfs, content: Readonly<Record<string, string>>, can: VfsSubject["can"]): Promise<void> {
  for (const [path, text] of Object.entries(content)) expect(await textAt(files, absolute(files, path))).toBe(text);
  if (!can("glob")) return;
  const found = (await files.glob("**")).filter(({ isDir }) => !isDir).map(({ path }) => path);
  expect(found.toSorted()).toEqual(
    Object.keys(content)
      .map((path) => absolute(files, path))
      .toSorted(),
  );
}

function without(content: Readonly<Record<string, string>>, place: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(content).filter(([path]) => path !== place));
}
