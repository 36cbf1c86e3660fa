import fc from "fast-check";
import type { CallPlace } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { seed } from "../../../../../test/tier.ts";
import { readCommandLine } from "../index.ts";

const read = (line: string) => readCommandLine(line, { cwd: "/project" });
const commandsOf = async (line: string) =>
  (await read(line)).commands?.map(
    ({ text, readOnly, caution }) => `${readOnly === true ? "reads" : caution === undefined ? "runs" : "caution"}: ${text}`,
  );

describe("the commands of a line", () => {
  it("are its segments, without their quotes, redirections and assignments", async () => {
    expect(await commandsOf("cd src && FOO=1 npm 'test' 2>&1 | tail -5")).toEqual(["reads: cd src", "runs: npm test", "reads: tail -5"]);
  });
});

describe("the files of a line", () => {
  const filesOf = async (line: string) => {
    const { reads = [], writes = [] } = await read(line);
    return { reads, writes };
  };
  it("are those that its redirections and programs read and write, in the folder that cd left it in", async () => {
    expect(await filesOf("cat a < b > c 2>> d")).toEqual({ reads: ["/project/b", "/project/a"], writes: ["/project/c", "/project/d"] });
    expect(await filesOf("cd src && cat a.ts")).toEqual({ reads: ["/project/src/a.ts"], writes: [] });
    expect(await filesOf("(cd src); cat a.ts")).toEqual({ reads: ["/project/a.ts"], writes: [] });
    expect(await filesOf("cd src & cat a.ts")).toEqual({ reads: ["/project/a.ts"], writes: [] });
    expect((await filesOf("cd src || cat a.ts")).reads).toContain("/project/a.ts");
    expect(await filesOf("ls 2>/dev/null >&2")).toEqual({ reads: [], writes: [] });
  });
  it.each(["npm test <> F", "npm test 0<>F", "npm test {fd}<>F", "x=1 <>F", "exec 3<> F", "while read l; do :; done <>F"])(
    "are both read and written by the redirection of `%s`",
    async (line) => {
      expect(await filesOf(line)).toEqual({ reads: ["/project/F"], writes: ["/project/F"] });
    },
  );
  it("are told of words that a script or a program of no table gets", async () => {
    expect((await filesOf("node dump.js private/key --x")).reads).toEqual(["/project/private/key", "/project/dump.js"]);
    expect((await filesOf("mytool ./private/key --file=a/b")).reads).toEqual(["/project/private/key", "/project/a/b"]);
    expect((await filesOf("git log --author=a.b")).reads).toEqual([]);
  });
  it.each([
    ["git diff HEAD~1 -- src", "/project/src/*"],
    ["git log -p -- src", "/project/src/*"],
    ["git grep x -- src", "/project/src/*"],
    ["ln -s ../a src/b", "*"],
    ["ln -s src/lib z; cat z/../../a", "*"],
    ["mkdir d; cat d/../a", "*"],
  ])("are not all known to `%s`, which may touch %s", async (line, pattern) => {
    expect((await read(line)).mayTouch).toContain(pattern);
  });
  it("are known where `..` leads out of a folder that is there before", async () => {
    expect((await read("cat src/../a")).mayTouch).toBeUndefined();
    expect((await read("mv ../a b")).commands?.[0]?.unlisted).toBeUndefined();
  });
  it("are told of flags by which a reading program writes", async () => {
    expect((await filesOf("sort -o out in")).writes).toEqual(["/project/out"]);
    expect((await filesOf("uniq in out")).writes).toEqual(["/project/out"]);
    expect((await filesOf("find src -name '*.log' -delete")).writes).toContain("/project/src");
    expect((await filesOf("sed -i s/a/b/ x")).writes).toEqual(["/project/x"]);
  });
});

describe("a line of bash", () => {
  it.each([
    ["a; b & c\nd", "a b c d"],
    ["a && b || ! c | d |& e", "a b c d e"],
    ["if a; then b; elif c; then d; else e; fi", "a b c d e"],
    ["if (a) then b; fi; { { c; } }", "a b c"],
    ["while a; do b; done; until c; do d; done", "a b c d"],
    ["for x in $(a) 'b'; do c; done; for x; do d; done; for x\ndo e; done; for x in 1; { f; }", "a c d e f"],
    ["for ((i = 0; i < 3; i++)); do a; done", "a"],
    ["select x in y; do a; done <<< 1", "a"],
    ["case x in (x|y) a;; 'z z') b;& *) c; esac", "a b c"],
    ["f() { a; }; function g { b; }; function h() ( c )", "a b c"],
    ["(a; (b)); { c; } < in", "a b c"],
    ["coproc { a; }; coproc { b; }; time -p { c; }", "a b c"],
    ['true `a` <(b) && cd "$(c "$(d)")"', "a b c d"],
    ["x=$(a) y=(1 $(b)) c", "a b c"],
    ["export x=$(a) y; declare z=(1 $(b))", "a b"],
    ["a <<E; b <<-'F'; c\n$(d)\nE\n\t$(not)\n\tF\ne", "a b c d e"],
    ['a <<< "$(b)"; c 2>&1 {fd}> f; d &> e', "a b c d"],
    ["[[ -n $(a) && ( x == @(b|c) || y =~ ^(d|$(b))$ ) ]] && c", "a b c"],
    ["a \\\n  ; b # c; d\n# e\nf", "a b f"],
    ["true 'a; b' \"; c\" $'\\'; d' \\; e; f", "f"],
  ])("is read whole: %j", async (line, programs) => {
    const { commands = [], unknown } = await read(line);
    expect(unknown).toBeUndefined();
    const started = commands.map(({ text }) => text.split(" ")[0] ?? "").filter((program) => program.length === 1);
    expect([...new Set(started)].toSorted().join(" ")).toBe(programs);
  });

  it.each([
    ["a )", "a"],
    ["a 'b", "a"],
    ['a "b; c', "a c"],
    ["a; $(b", "a b"],
    ["if a; then b", "a b"],
    ["a; ((b) | (c))", "a b c"],
    ["echo $((a) | (b))", "a b"],
    ["a @(b|c); d", "a b c d"],
    ["a <<E; b\nc", "a b"],
    ["a <<E\n\\\nE\nb", "a b"],
    ["a <<E $(b\n)\nE", "a b"],
    ["a <<'E'F\nb\nEF\nc", "a b c"],
    ["a &\\\n& b", "a b"],
    ["i\\\nf a; then b; fi", "f b"],
    ["$\\\n(a)", "a"],
    ["x[1 + 2]=3 a; b", "b"],
    ["a <\\\n(b)", "a b"],
    ["a ;; b", "a b"],
    ["a\rb; c", "c"],
    ["a\u00a0b; c", "c"],
    ["a\0b; c", "c"],
    ["f() a; b", "b"],
  ])("is unknown where it is not understood, and its programs are found all the same: %j", async (line, programs) => {
    const { commands = [], unknown } = await read(line);
    expect(unknown?.length).toBeGreaterThan(0);
    const started = commands.map(({ text }) => text.split(" ")[0]);
    for (const program of programs.split(" ")) expect(started).toContain(program);
  });

  it("is in doubt where a part of it has a clear end and no clear meaning", async () => {
    for (const line of [
      "echo ${x@P}",
      "echo ${!x}",
      "echo ${ evil; }",
      "echo $'\\u00e9'",
      "echo `a # b`",
      "echo $((x['evil']))",
      "coproc N { a; }",
    ])
      expect((await read(line)).unknown, line).toHaveLength(1);
  });

  it("never makes the reader throw, whatever its text [MC-15]", async () => {
    const piece = fc.constantFrom(
      ..."a|b|evil| |\n|;|&|(|)|{|}|<|>|$|`|'|\"|\\|#|!|[|]|=|*|~|<<E|${|$((|[[ |if |do |case x in |\0|\r|é|\ud83d".split(/(?<!^)\|(?!\|)/),
      "|",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
        async (line) => {
          expect((await read(line)).commands).toBeDefined();
        },
      ),
      { numRuns: 2000, seed },
    );
  });
});

describe("a text for another shell", () => {
  it("is unknown where a POSIX shell runs what bash does not", async () => {
    for (const text of ["((evil))", "[[ a || evil ]]", "echo $[1 | evil ]", "echo a &> evil", String.raw`echo $"'a\\'"; evil`])
      expect((await read(`sh -c ${JSON.stringify(text).replaceAll("$", "\\$")}`)).unknown, text).toBeDefined();
    expect((await read("sh -c 'npm test && ls'")).unknown).toBeUndefined();
    expect((await read("bash -c '[[ a ]]'")).unknown).toBeUndefined();
    expect((await read("zsh -c 'noglob evil'")).commands).toMatchObject([{ unknownProgram: true, unlisted: ["-c"] }]);
  });
});

describe("a long line", () => {
  it("is unknown beyond 64 KiB, 50 levels of nesting or 2000 commands, and says so", async () => {
    const nested = {
      "a=(": 20_000,
      "f() ": 16_000,
      "$( ": 20_000,
      "{ ": 30_000,
      "((": 30_000,
      "a|": 30_000,
      "cat <<E\nx\nE\n": 5000,
      "a\n": 3000,
    };
    for (const line of ["a".repeat(1 << 20), ...Object.entries(nested).map(([part, times]) => part.repeat(times))])
      expect((await read(line)).unknown?.length, line.slice(0, 20)).toBeGreaterThan(0);
  });

  it("is read where it is only long", async () => {
    expect((await read(`cat <<E\n${"$x ".repeat(20_000)}\nE\ncat a`)).unknown).toBeUndefined();
    expect((await read("cat a && ".repeat(1500) + "cat b")).commands).toHaveLength(1501);
    expect(await read(`${"( ".repeat(20)}cat b${" )".repeat(20)}`)).toMatchObject({ commands: [{ text: "cat b", readOnly: true }] });
  });
});

it("The place of a call, as effectsOf receives it, is read as it is.", async () => {
  const place: CallPlace = { cwd: "/", kept: { directory: "src" }, context: {}, exec: {}, environment: {} };
  expect(await readCommandLine("cat a.txt", place)).toEqual(await readCommandLine("cat a.txt", { cwd: "/" }));
});
