import { createAgent, createModelRegistry, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { estimateTokens } from "../src/reading/estimate-tokens.ts";
import { createToolWorkspace, type ToolWorkspace } from "./tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());

const code = (functions: number): string =>
  Array.from({ length: functions }, (_, at) => `export function part${at}(value) {\n  return value + ${at};\n}\n\n`).join("");

/** What the reads of a run return, call by call, under a model with this window. */
async function readInRun(contextWindow: number, batches: readonly (readonly string[])[]): Promise<readonly string[]> {
  const turns = [
    ...batches.map((paths) => ({
      toolCalls: paths.map((path) => ({ name: "read_file", input: { path } })),
      usage: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 },
    })),
    "done",
  ];
  const models = createModelRegistry({ providers: { s: scriptedModel(turns) }, facts: { "s/model": { contextWindow } } });
  const agent = createAgent({
    name: "coder",
    model: "s/model",
    tools: workspace.tools,
    cwd: workspace.root,
    permissions: { mode: "bypass-all" },
  });
  const outputs: string[] = [];
  for await (const event of createRunner({ agent, models, context: () => workspace.context }).run("go"))
    if (event.type === "tool-result") outputs.push(event.output as string);
  return outputs;
}

it("gives each read of a batch its share of the context that is left, as a run reports it [TC-06] [TC-07]", async () => {
  for (const name of ["a.ts", "b.ts", "c.ts", "d.ts"]) workspace.put(name, code(300));
  const [alone, ...together] = await readInRun(64_000, [["a.ts"], ["a.ts", "b.ts", "c.ts", "d.ts"]]);
  expect(alone?.split("\n")).toHaveLength(1200);
  expect(together).toHaveLength(4);
  for (const output of together) {
    expect(output).toMatch(/ has 1,200 lines, about [\d,]+ tokens; one read may use [23],\d{3} tokens now/);
    expect(estimateTokens(output)).toBeLessThan(3_200);
  }
});

it("shows the rest of a file by ranges from the store, and the conversation holds only those lines [TC-18] [TC-20]", async () => {
  workspace.put("a.ts", code(3000));
  const [first] = await readInRun(20_000, [["a.ts"]]);
  const range = /ranges \["(\d+)-\d+"\]/.exec(first ?? "");
  const line = Number(range?.[1]);
  expect(await workspace.say("read_file", { path: "a.ts", ranges: [`${line}-${line}`] })).toBe(
    `${line}\texport function part${(line - 1) / 4}(value) {\n[Lines ${line} to ${line} of 12000. Read on with offset ${line + 1}.]`,
  );
});
