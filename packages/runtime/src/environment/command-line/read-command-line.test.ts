import { describe, expect, it } from "vitest";
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
  it("are told of flags by which a reading program writes", async () => {
    expect((await filesOf("sort -o out in")).writes).toEqual(["/project/out"]);
    expect((await filesOf("uniq in out")).writes).toEqual(["/project/out"]);
    expect((await filesOf("find src -name '*.log' -delete")).writes).toContain("/project/src");
    expect((await filesOf("sed -i s/a/b/ x")).writes).toEqual(["/project/x"]);
  });
});

describe("a line that can't be read in good time", () => {
  const nested = { "a=(": 20_000, "f() ": 16_000, "$( ": 20_000, "a|": 30_000, "cat <<E\nx\nE\n": 5000, "{ ": 30_000, "((": 30_000 };
  it("is unknown where the parser had to supply what it lacks: bash may read it as commands", async () => {
    const line = `echo "$(( echo "a'" 'b"' \\' ; evil\n)\n)"`;
    expect((await readCommandLine(line, { cwd: "/work" })).unknown).toContainEqual(expect.stringContaining("is not understood as bash"));
  });

  it("is unknown, whatever its length or its nesting, and says so", async () => {
    for (const line of ["a".repeat(1 << 20), ...Object.entries(nested).map(([part, times]) => part.repeat(times))])
      expect((await read(line)).unknown?.length, line.slice(0, 20)).toBeGreaterThan(0);
    const document = (times: number) => `cat <<E\n${"$x ".repeat(times)}\nE\n`;
    expect((await read(document(50))).unknown).toBeUndefined();
    expect((await read(document(20_000))).unknown?.[0]).toContain("too long or too involved");
  });
});
