import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { createDiskVfs, createMemoryVfs, type GrepMatch, type GrepOptions, type Vfs } from "keelson/environment";
import { VfsError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../../test/tier.ts";
import { createDraw, generateFiles, placeFiles, WORDS } from "./generated-tree.ts";
import * as judges from "./judges.ts";

// A pattern is as well tried on some hundred files as on thousands, and every search starts programs: so most patterns
// have a small tree, and a few of them, with every option, the large one.
const SMALL_TREE = { test: 60, ci: 200, soak: 400 }[tier];
const LARGE_TREE = { test: 60, ci: 1000, soak: 20_000 }[tier];
const PATTERNS = sampleSize("patterns that ripgrep and git judge", { test: 8, ci: 40, soak: 300 });
const PATTERNS_ON_LARGE_TREE = { test: 4, ci: 12, soak: 12 }[tier];
const timeout = { test: 60_000, ci: 300_000, soak: 900_000 }[tier];

interface Tree {
  readonly root: string;
  /** The same files: searched with ripgrep, in plain code, and in memory. */
  readonly ways: readonly (readonly [string, Vfs])[];
}
async function growTree(size: number, lineEnds: readonly string[] = ["\n"]): Promise<Tree> {
  const files = generateFiles(size, seed, lineEnds);
  const root = placeFiles(files);
  const memory = createMemoryVfs();
  for (const [path, bytes] of files) await memory.write(path, bytes);
  const [fast, plain] = [createDiskVfs({ root }), createDiskVfs({ root, ripgrep: false })];
  return {
    root,
    ways: [
      ["ripgrep", fast],
      ["plain code", plain],
      ["memory", memory],
    ],
  };
}

const below = ({ root }: Vfs, path: string): string => path.slice(root === "/" ? 1 : (root ?? "").length + 1);
/** What was found, without where the root is. */
const told = (files: Vfs, matches: readonly GrepMatch[]): GrepMatch[] =>
  matches.map((match) => ({ ...match, file: below(files, match.file) }));

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|-]/g, "\\$&");
const anyPattern = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  pattern: fc.oneof(
    { weight: 4, arbitrary: fc.array(tie("term"), { minLength: 1, maxLength: 4 }).map((terms) => terms.join("")) },
    { weight: 1, arbitrary: fc.tuple(tie("term"), tie("term")).map(([a, b]) => `${a}|${b}`) },
  ),
  term: fc.oneof(
    { weight: 5, arbitrary: tie("atom") },
    {
      weight: 2,
      arbitrary: fc.tuple(tie("atom"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?")).map(([a, q]) => a + q),
    },
    { weight: 1, arbitrary: fc.constantFrom("^", "$", "\\b", "\\B") },
  ),
  atom: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...WORDS).map((word) => `(?:${escaped(word)})`) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\p{Lu}", "\\P{L}", "\\t", "\\x41", "\\u{e9}"),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom("[a-f]", "[^a-f]", "[\\d_]", "[^\\s\\w]", "[é-ü]", "[.\\-]", "[A-Z日]", "[^\\n]", "o", "F", "]"),
    },
    { weight: 1, arbitrary: tie("pattern").map((inner) => `(${inner})`) },
  ),
})).pattern;

const OPTIONS: readonly GrepOptions[] = [
  {},
  { caseInsensitive: true },
  { fixedString: true },
  { invert: true },
  { multiline: true },
  { glob: "*.ts" },
  { glob: "src/**/*.{ts,js}" },
  { fileType: "go" },
  { context: 1 },
  { beforeContext: 2, afterContext: 1 },
  { beforeContext: 2, context: 0 },
  { caseInsensitive: true, invert: true, glob: "**/a/*" },
];
const MODES = ["content", "files-with-matches", "count"] as const;

/** Holds each way of searching the tree to what ripgrep says. */
async function agreeWithRipgrep({ root, ways }: Tree, pattern: string, option: GrepOptions, mode: (typeof MODES)[number]): Promise<void> {
  const search = async (files: Vfs): Promise<GrepMatch[]> =>
    told(files, await files.grep(pattern, { ...option, lineNumbers: true, outputMode: mode }));
  if (mode === "files-with-matches") {
    const named = judges.judgeFiles(root, pattern, option);
    for (const [way, files] of ways) expect((await search(files)).map(({ file }) => file).sort(), way).toEqual(named);
  } else if (mode === "count") {
    if (option.multiline) return; // ripgrep joins matches on neighbouring lines, and counts matches
    const counts = judges.judgeCounts(root, pattern, option).sort();
    for (const [way, files] of ways)
      expect((await search(files)).map(({ file, lineNumber }) => `${file}:${lineNumber}`).sort(), way).toEqual(counts);
  } else {
    const judged = judges.judgeMatches(root, pattern, option);
    for (const [way, files] of ways) agreeOnContent(judged, await search(files), { way, columns: !option.multiline });
  }
}

function agreeOnContent(
  judged: ReturnType<typeof judges.judgeMatches>,
  found: readonly GrepMatch[],
  { way, columns }: { readonly way: string; readonly columns: boolean },
): void {
  const matched = found.flatMap(({ file, lineNumber, lineContent }) =>
    lineContent.split("\n").map((_, offset) => `${file}:${lineNumber + offset}`),
  );
  const shown = found.flatMap(({ file, lineNumber, lineContent, before, after }) => {
    const count = before.length + lineContent.split("\n").length + after.length;
    return Array.from({ length: count }, (_, offset) => `${file}:${lineNumber - before.length + offset}`);
  });
  expect([...new Set(matched)].sort(), way).toEqual([...new Set(judged.matched)].sort());
  expect([...new Set(shown)].sort(), way).toEqual([...new Set(judged.shown)].sort());
  if (!columns) return;
  const starts = new Set(found.map(({ file, lineNumber, column }) => `${file}:${lineNumber}:${column}`));
  expect(
    judged.columns.filter((column) => !starts.has(column)),
    way,
  ).toEqual([]);
}

describe("grep", () => {
  it("finds the lines, columns, counts and files that ripgrep does, option by option", { timeout }, async () => {
    const tree = await growTree(SMALL_TREE);
    const anyMode = fc.constantFrom(...MODES);
    await fc.assert(
      fc.asyncProperty(
        anyPattern,
        fc.constantFrom(...WORDS),
        fc.constantFrom(...OPTIONS),
        anyMode,
        async (expression, word, option, mode) => agreeWithRipgrep(tree, option.fixedString ? word : expression, option, mode),
      ),
      { numRuns: PATTERNS, seed },
    );
  });

  it("finds with every option in a large tree what ripgrep does", { timeout }, async () => {
    const tree = await growTree(LARGE_TREE);
    const draw = createDraw(seed);
    const expressions = fc.sample(anyPattern, { numRuns: OPTIONS.length, seed });
    const turn = draw(MODES.length); // every option comes to every mode, on one day or the next
    for (const [index, option] of OPTIONS.entries()) {
      const pattern = option.fixedString ? (WORDS[draw(WORDS.length)] as string) : (expressions[index] as string);
      await agreeWithRipgrep(tree, pattern, option, MODES[(index + turn) % MODES.length] ?? "content");
    }
  });

  it("finds the same with ripgrep, in plain code and in memory, whatever the ends of lines", { timeout }, async () => {
    const { ways } = await growTree(SMALL_TREE, ["\n", "\r\n", "\r", "\n\r\n"]);
    const anyOptions = fc.record(
      {
        caseInsensitive: fc.boolean(),
        invert: fc.boolean(),
        multiline: fc.boolean(),
        context: fc.nat({ max: 2 }),
        maxMatches: fc.nat({ max: 30 }),
        glob: fc.constantFrom("*.ts", "**/src/**", "[a-b]*"),
        path: fc.constantFrom("src", "a", "."),
        lineNumbers: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const [, plain] = ways[1] as readonly [string, Vfs];
    await fc.assert(
      fc.asyncProperty(anyPattern, anyOptions, async (pattern, options) => {
        const expected = await plain.grep(pattern, options).then((found) => told(plain, found), VfsError.is);
        for (const [way, files] of ways)
          expect(await files.grep(pattern, options).then((found) => told(files, found), VfsError.is), way).toEqual(expected);
      }),
      { numRuns: PATTERNS, seed },
    );
  });

  it.each([
    ["$^(?:foo)*", {}],
    ["$\\b", {}],
    ["$\\B", {}],
    ["foo$\\r\\n", { multiline: true }],
  ] as const)("finds %s at the ends of lines of Windows with ripgrep as without", async (pattern, options) => {
    const root = placeFiles(new Map([["a.txt", Buffer.from("foo\r\n\r\nbar ;\r\n")]]));
    const [fast, plain] = [
      await createDiskVfs({ root }).grep(pattern, options),
      await createDiskVfs({ root, ripgrep: false }).grep(pattern, options),
    ];
    expect(fast).toEqual(plain);
    expect(plain.length).toBeGreaterThan(0);
  });

  it.each([
    ["(a+)+$", {}],
    ["(a|a)*b", {}],
    ["(\\w+\\s*)+:", {}],
    ["a*a*a*a*a*b", {}],
    ["([ab]*a){20}c", {}],
    ["(a+)+$", { multiline: true }],
    ["(.*)*x", { multiline: true }],
  ] as const)("answers for %s, over which engines that go back never end, as ripgrep does", async (pattern, options) => {
    const root = placeFiles(new Map([["a.txt", Buffer.from(`${"a".repeat(50_000)}!\n`)]]));
    const memory = createMemoryVfs();
    await memory.write("a.txt", `${"a".repeat(50_000)}!\n`);
    const expected = judges.judgeCounts(root, pattern, options);
    for (const files of [createDiskVfs({ root, ripgrep: false }), memory])
      expect((await files.grep(pattern, { ...options, outputMode: "count" })).map(({ lineNumber }) => `a.txt:${lineNumber}`)).toEqual(
        expected,
      );
  });

  it("gives up, naming the file, where a pattern reads the rest of a text for each of its matches", async () => {
    const memory = createMemoryVfs();
    await memory.write("a.txt", "a".repeat(100_000));
    await expect(memory.grep("a(?:.*b)?", { multiline: true })).rejects.toMatchObject({
      failure: { kind: "resource-limit", path: "/a.txt" },
    });
    expect(await memory.grep("a(?:.*b)?")).toHaveLength(1);
  });

  it("refuses with the reason what only one of the engines knows, on a disk and in memory alike", async () => {
    const root = placeFiles(new Map([["a.txt", Buffer.from("a\n")]]));
    const memory = createMemoryVfs();
    const foreign: readonly (readonly [string, RegExp])[] = [
      ["a(?=b)", /lookaround/],
      ["(?<!a)b", /lookaround/],
      ["(?<name>a)", /named groups/],
      ["(?i)a", /flags/],
      ["(a)\\1", /back references/],
      ["[[:alpha:]]", /within \[ \]/],
      ["[a&&b]", /within \[ \]/],
      ["\\Aa", /not read alike/],
      ["\\p{Greek}", /general categories/],
      ["a{", /Write \\\{/],
      ["a**", /repeats a repetition/],
      ["^*", /repeats a place/],
      ["a\\nb", /Set multiline/],
      ["a\nb", /Set multiline/],
      ["a{2000}", /more than 1000/],
      ["(a{100}){100}", /written out, are too long/],
    ];
    for (const files of [createDiskVfs({ root }), createDiskVfs({ root, ripgrep: false }), memory])
      for (const [pattern, reason] of foreign)
        await expect(files.grep(pattern)).rejects.toMatchObject({
          failure: { kind: "unsupported", operation: "grep", message: expect.stringMatching(reason) },
        });
    for (const pattern of ["(a", "a)", "*a", "[a", "a\\", "[b-a]", "a{2,1}", "\\xZZ", "\ud800"])
      await expect(memory.grep(pattern)).rejects.toMatchObject({
        failure: { kind: "other", message: expect.stringMatching(/not a valid/) },
      });
  });

  it("knows no pattern that ripgrep does not", { timeout }, async () => {
    const root = placeFiles(new Map([["a.txt", Buffer.from("a\n")]]));
    const memory = createMemoryVfs();
    const piece = fc.constantFrom(
      "a",
      "\\",
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      "?",
      "*",
      "+",
      "|",
      "^",
      "$",
      "-",
      "&",
      "~",
      ":",
      "1",
      ",",
      "<",
      "d",
      "p",
      "x",
      "u",
      "n",
      "b",
      "é",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
        async (pattern) => {
          const accepted = await memory.grep(pattern).then(
            () => true,
            () => false,
          );
          if (accepted) expect(judges.judgeAccepts(root, pattern), pattern).toBe(true);
        },
      ),
      { numRuns: PATTERNS * 8, seed },
    );
  });
});

describe("glob", () => {
  const segment = fc
    .array(fc.constantFrom("a", "b", "src", "x", "*", "?", "[a-b]", "[!a]", "\\[", ".ts", ".", "é", "1"), { minLength: 1, maxLength: 4 })
    .map((pieces) => pieces.join("").replace(/\*\*+/g, "*"))
    .filter((name) => name !== "." && name !== "..");
  const anyGlob = fc
    .array(fc.oneof({ weight: 3, arbitrary: segment }, { weight: 1, arbitrary: fc.constantFrom("**", "*") }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((segments) => segments.join("/").replace(/(\*\*\/)+\*\*/g, "**"));

  it.each([
    { size: SMALL_TREE, patterns: PATTERNS },
    { size: LARGE_TREE, patterns: PATTERNS_ON_LARGE_TREE },
  ])("finds the files that ripgrep and git do ($patterns patterns over $size files)", { timeout }, async ({ size, patterns }) => {
    const { root, ways } = await growTree(size);
    judges.startRepository(root);
    await fc.assert(
      fc.asyncProperty(anyGlob, fc.constantFrom("", "{.ts,.bak}", "{a,b}*"), async (glob, braces) => {
        const pattern = glob.endsWith("**") ? glob : glob + braces;
        // One character is one byte to ripgrep and git.
        const judged = (path: string): boolean => !path.startsWith(".git/") && (!/[?[]/.test(pattern) || /^[\x20-\x7e]*$/.test(path));
        const expected = judges.judgeRipgrepGlob(root, pattern).filter(judged);
        for (const [way, files] of ways) {
          const found = (await files.glob(pattern)).filter(({ isDir }) => !isDir).map(({ path }) => below(files, path));
          expect(found.filter(judged).sort(), `${way} ${pattern}`).toEqual(expected);
        }
        // A folder without a wildcard is all that lies in it, to git.
        if (!pattern.includes("{") && /[*?[]/.test(glob))
          expect(judges.judgeGitGlob(root, pattern).filter(judged), pattern).toEqual(expected);
      }),
      { numRuns: patterns, seed, examples: [["*[!a]", "{a,b}*"]] },
    );
  });

  it("leaves out what git ignores, in glob and grep alike", { timeout }, async () => {
    const rules = [
      "*.ts",
      "!a*.ts",
      "build/",
      "/src",
      "lib/*",
      "!lib/keep",
      "node_modules",
      "**/test/*.js",
      "a/**",
      "# comment",
      "",
      "x y/",
      "*.b?k",
      "\\[x\\]*",
      "[x]",
      "!.hidden/",
      ".hidden",
      "trailing ",
      "b\\ ",
      "/a/b/",
      "{a,b}",
      "UPPER/**/a*",
      "!/b/",
    ];
    const draw = createDraw(seed);
    for (let round = 0; round < Math.ceil(PATTERNS / 6); round++) {
      const { root, ways } = await growTree(round === 0 ? LARGE_TREE : SMALL_TREE);
      for (const folder of ["", "src/", "a/", "lib/"]) {
        const text = Array.from({ length: draw(7) }, () => rules[draw(rules.length)]).join(draw(4) === 0 ? "\r\n" : "\n");
        try {
          writeFileSync(join(root, folder, ".gitignore"), text);
        } catch {
          continue; // no such folder in this tree
        }
        await (ways[2] as readonly [string, Vfs])[1].write(`${folder}.gitignore`, text);
      }
      judges.startRepository(root);
      const expected = judges.judgeGitUnignored(root);
      for (const [way, files] of ways) {
        const globbed = (await files.glob("**", { gitignore: true })).filter(({ isDir }) => !isDir).map(({ path }) => below(files, path));
        expect(globbed.sort(), way).toEqual(expected);
        const everywhere = await files.grep("foo", { outputMode: "files-with-matches" });
        const grepped = (await files.grep("foo", { gitignore: true, outputMode: "files-with-matches" })).map(({ file }) => file);
        expect(grepped, way).toEqual(everywhere.map(({ file }) => file).filter((file) => expected.includes(below(files, file))));
      }
    }
  });

  it("refuses with the reason what tools read differently, as pattern and as the glob of a grep", async () => {
    const files = createMemoryVfs();
    for (const pattern of [
      "",
      "!a",
      "/a",
      "a/../b",
      "a//b",
      "a**",
      "a[b",
      "[a\\]]",
      "[[a]]",
      "{a",
      "a}",
      "{a}",
      "a\\",
      "[b-a]",
      "[a/b]",
      "[é]",
    ])
      await expect(files.glob(pattern), pattern).rejects.toMatchObject({ failure: { kind: "unsupported", message: expect.any(String) } });
    for (const glob of ["!a", "a**", "{a"])
      await expect(files.grep("x", { glob }), glob).rejects.toMatchObject({ failure: { kind: "unsupported" } });
  });
});
