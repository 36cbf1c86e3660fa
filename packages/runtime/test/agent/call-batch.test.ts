import { createAgent, createModelRegistry, createRunner, defineTool, type AgentOptions } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { CallBatch } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sharedServices, watch } from "./support.ts";

interface Noted {
  readonly call: string;
  readonly reads: number | undefined;
  readonly contextLeft: number | undefined;
}

function notingTool(noted: Noted[], name: string, effect: "read" | "write", output = "x") {
  return defineTool({
    name,
    description: "Notes its batch.",
    effect,
    concurrency: "shared",
    input: { type: "object", properties: { id: { type: "string" } } },
    execute({ id }, { batch }: { readonly batch?: CallBatch }) {
      noted.push({ call: id as string, reads: batch?.reads, contextLeft: batch?.contextLeft });
      return output;
    },
  });
}

const USAGE = { outputTokens: 20, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };

async function run(turns: readonly ScriptedTurn[], facts: { readonly contextWindow?: number }, options: Partial<AgentOptions> = {}) {
  const noted: Noted[] = [];
  const models = createModelRegistry({ providers: { s: scriptedModel(turns) }, facts: { "s/model": facts } });
  const tools = [notingTool(noted, "look", "read", "word ".repeat(1000)), notingTool(noted, "put", "write")];
  const agent = createAgent({ name: "a", model: "s/model", tools, permissions: { mode: "bypass-all" }, ...options });
  const { outcome } = await watch(createRunner({ ...sharedServices(), models, agent }).run("go"));
  expect(outcome.reason).toBe("complete");
  return noted;
}

const look = (id: string) => ({ name: "look", input: { id } });
const put = (id: string) => ({ name: "put", input: { id } });

describe("the batch of a call", () => {
  it("tells each call the tokens that the window has left and the number of reads beside it, and counts earlier results [TC-06, TC-07]", async () => {
    const noted = await run(
      [
        { toolCalls: [look("a"), put("b"), look("c")], usage: { ...USAGE, inputTokens: 1_000 } },
        { toolCalls: [look("d")], usage: { ...USAGE, inputTokens: 3_100 } },
        "done",
      ],
      { contextWindow: 10_000 },
    );
    expect(noted.map(({ call, reads }) => [call, reads])).toEqual([
      ["a", 2],
      ["b", 2],
      ["c", 2],
      ["d", 1],
    ]);
    const [first, , , last] = noted;
    expect(new Set(noted.slice(0, 3).map(({ contextLeft }) => contextLeft)).size).toBe(1);
    expect(first?.contextLeft).toBeGreaterThan(8_900);
    expect(first?.contextLeft).toBeLessThan(9_000);
    expect(last?.contextLeft).toBeGreaterThan(6_800);
    expect(last?.contextLeft).toBeLessThan(6_900);
  });

  it("counts the results of an earlier batch of the same response [TC-06]", async () => {
    const noted = await run(
      [{ toolCalls: [look("a"), look("b")], usage: { ...USAGE, inputTokens: 1_000 } }, "done"],
      { contextWindow: 10_000 },
      { limits: { maxParallelCalls: 1 } },
    );
    const [first, second] = noted.map(({ contextLeft }) => contextLeft as number) as [number, number];
    expect(first - second).toBeGreaterThan(900);
    expect(noted.map(({ reads }) => reads)).toEqual([1, 1]);
  });

  it("has no remaining context if the window of the model is unknown, and never less than none if it is passed [TC-06]", async () => {
    const unknown = await run([{ toolCalls: [look("a")] }, "done"], {});
    expect(unknown).toEqual([{ call: "a", reads: 1, contextLeft: undefined }]);
    const passed = await run([{ toolCalls: [look("a")], usage: { ...USAGE, inputTokens: 9_999 } }, "done"], { contextWindow: 10_000 });
    expect(passed[0]?.contextLeft).toBe(0);
  });

  it("estimates the whole request, system prompt and tools included, if the vendor counts nothing", async () => {
    const noted = await run(
      [{ toolCalls: [look("a")], usage: { inputTokens: null, outputTokens: null } }, "done"],
      { contextWindow: 10_000 },
      { instructions: "word ".repeat(5_000) },
    );
    expect(noted[0]?.contextLeft).toBeGreaterThan(4_500);
    expect(noted[0]?.contextLeft).toBeLessThan(5_000);
  });
});
