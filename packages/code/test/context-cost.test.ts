import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InferRequest } from "@keelson/protocol";
import { createAgent, createModelRegistry, createRunner } from "keelson";
import { createDiskVfs, createProcessExecutor } from "keelson/environment";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { approximateTokens } from "../../runtime/src/providers/approximate-tokens.ts";
import { conversationTokens } from "../../runtime/src/context/room/conversation-tokens.ts";
import { COMPACTION } from "../src/core/compaction.ts";
import { createCodingTools } from "../src/tools/index.ts";
import { createWorkspace } from "../src/workspace/create-workspace.ts";

const READS = 30;
const WINDOW = 30_000;

/** A source file of sixty functions, about 8,000 tokens. */
function sourceOf(file: number): string {
  const part = (n: number): string =>
    `/** Computes part ${n} of the report about orders. */
export function computePart${file}x${n}(orders: readonly Order[], limit: number): number {
  let total = 0;
  for (const order of orders) {
    if (order.amount > limit && order.state === "open") total += order.amount * ${n + 1};
    else if (order.customer.region === "north") total -= order.discount / ${n + 2};
  }
  return Math.round(total * 100) / 100;
}
`;
  return `import type { Order } from "./order.ts";\n\n${Array.from({ length: 60 }, (_, n) => part(n)).join("\n")}`;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-reads-"));
  for (let file = 0; file < READS; file++) await writeFile(join(folder, `file${file}.ts`), sourceOf(file));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The runtime's own estimate of a request. */
function tokensOf({ messages, system = "", tools = [] }: InferRequest): number {
  return Math.round(conversationTokens(messages) + approximateTokens(system) + approximateTokens(JSON.stringify(tools)));
}

/** Reads thirty files, so many in one response, and returns the input tokens of all requests. */
async function readAll(batch: number): Promise<{ readonly input: number; readonly requests: number; readonly largest: number }> {
  let next = 0;
  let largest = 0;
  const turn = (request: InferRequest): ScriptedResponse => {
    const inputTokens = tokensOf(request);
    largest = Math.max(largest, inputTokens);
    const usage = { inputTokens, outputTokens: 50 };
    if (request.system?.startsWith("Summarise") === true) return { text: "Some files were read.", usage };
    if (next >= READS) return { text: "All are read.", usage };
    return { usage, toolCalls: Array.from({ length: batch }, () => ({ name: "read_file", input: { path: `file${next++}.ts` } })) };
  };
  const model = scriptedModel(Array.from({ length: 3 * READS }, () => turn));
  const models = createModelRegistry({ providers: { s: model }, facts: { "s/m": { contextWindow: WINDOW } } });
  const tools = createCodingTools({ exec: createProcessExecutor({ cwd: folder }) });
  const context = createWorkspace({ files: createDiskVfs({ root: folder }) });
  const agent = createAgent({ name: "code", model: "s/m", instructions: "You are a coding agent.", tools, compaction: COMPACTION });
  const outcome = await createRunner({ agent, models, context: () => context }).run("Read all files.").outcome;
  expect(outcome.reason).toBe("complete");
  expect(outcome.usage.inputTokens).toBeGreaterThan(0);
  return { input: outcome.usage.inputTokens as number, requests: model.requests.length, largest };
}

describe("thirty reads of files of 8,000 tokens in a window of 30,000", () => {
  // Without budgets and compaction they took 560,000 tokens one by one. The prompt and the tools alone are some 2,000 of each request.
  it.each([
    [5, 120_000],
    [3, 120_000],
    [1, 290_000],
  ])("take, %i in one response, at most %i input tokens in all, and never fill the window [TC-06, TC-07]", async (batch, most) => {
    const { input, requests, largest } = await readAll(batch);
    process.stdout.write(
      `${READS} reads, ${batch} in one response: ${input} input tokens in ${requests} requests, at most ${largest} in one\n`,
    );
    expect(input).toBeLessThanOrEqual(most);
    expect(largest).toBeLessThan(0.95 * WINDOW);
  });
});
