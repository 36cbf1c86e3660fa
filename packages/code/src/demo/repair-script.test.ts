import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { CallId, InferRequest, Message } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BROKEN_PROJECT, changedFiles, copyProject } from "./project-copy.ts";
import { REPAIR_SCRIPT, type ScriptTurn } from "./repair-script.ts";
import { failingTests, testCounts } from "./test-output.ts";

async function runTests(folder: string, ...files: readonly string[]): Promise<string> {
  // The test runner of this suite leaves variables that would make a nested one report to it.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...environment } = process.env;
  return promisify(execFile)(process.execPath, ["--test", ...files], { cwd: folder, env: environment }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe("the repair script", () => {
  let folder: string;
  beforeEach(async () => void (folder = await copyProject(BROKEN_PROJECT, "project")));
  afterEach(() => rm(dirname(folder), { recursive: true, force: true }));

  it("begins with a project whose tests fail, in two modules and what is built on them", async () => {
    const output = await runTests(folder);
    expect(testCounts(output)).toEqual({ total: 18, passed: 13, failed: 5 });
    expect(failingTests(output)).toEqual([
      { file: "test/money.test.js", name: "reads one decimal place as tenths" },
      { file: "test/settle.test.js", name: "has balances that add up to zero" },
      { file: "test/settle.test.js", name: "is settled to the cent" },
      { file: "test/split.test.js", name: "hands the cents that are left to the first people" },
      { file: "test/split.test.js", name: "never loses a cent" },
    ]);
  });

  it("repairs it by what the tools return, and concludes by the last test run", async () => {
    const { texts, output } = await play(folder);
    expect(testCounts(output)).toEqual({ total: 18, passed: 18, failed: 0 });
    expect(texts.at(-1)).toMatch(/^## All 18 tests pass\n/);
    expect((await changedFiles(BROKEN_PROJECT, folder)).map(({ path }) => path)).toEqual(["src/money.js", "src/split.js"]);
  });

  it("stops, and says why, when an edit is declined", async () => {
    const { texts, output } = await play(folder, { declines: true });
    expect(texts.at(-1)).toBe("The edit was not made: A person declined this call. So I stop here, and **the tests still fail**.");
    expect(testCounts(output).failed).toBe(5);
    expect(await changedFiles(BROKEN_PROJECT, folder)).toEqual([]);
  });

  it("says so when it finds something else than it knows", async () => {
    const file = join(folder, "src/money.js");
    await writeFile(file, (await readFile(file, "utf8")).replace("Number(fraction)", "parseInt(fraction, 10)"));
    const { texts, output } = await play(folder);
    expect(texts.at(-1)).toMatch(/did not find it[\s\S]*knows no other repair/);
    expect(testCounts(output).failed).toBeGreaterThan(0);
  });
});

/** Plays the script with the simplest tools that could be, until a turn asks for none. */
async function play(
  folder: string,
  { declines = false }: { readonly declines?: boolean } = {},
): Promise<{ readonly texts: readonly string[]; readonly output: string }> {
  const messages: Message[] = [];
  const texts: string[] = [];
  let output = await runTests(folder);
  for (const turn of REPAIR_SCRIPT) {
    const { text, toolCalls = [] }: ScriptTurn = turn({ model: "repair", messages } satisfies InferRequest);
    texts.push(text);
    if (toolCalls.length === 0) break;
    messages.push({ role: "assistant", content: [{ type: "text", text }] });
    for (const { name, input } of toolCalls) {
      const { path = "", command = "", old_string = "", new_string = "" } = input as { [key: string]: string };
      if (name === "edit_file" && declines) {
        const output = "A person declined this call. Do not repeat it.";
        messages.push({ role: "tool", content: [{ type: "tool-result", id: "c" as CallId, name, output, isError: true }] });
        continue;
      }
      if (name === "edit_file")
        await writeFile(join(folder, path), (await readFile(join(folder, path), "utf8")).replace(old_string, new_string));
      if (name === "bash") output = await runTests(folder, ...command.split(" ").slice(2));
      const response = name === "bash" ? output : name === "read_file" ? await readFile(join(folder, path), "utf8") : "ok";
      messages.push({ role: "tool", content: [{ type: "tool-result", id: "c" as CallId, name, output: response }] });
    }
  }
  return { texts, output };
}
