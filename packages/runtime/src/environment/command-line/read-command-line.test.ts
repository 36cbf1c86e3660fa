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
