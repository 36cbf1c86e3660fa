import { cp } from "node:fs/promises";
import type { CallId, Message } from "@keelson/protocol";
import { requestMessages, type ServerRequest, type ServerTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { BROKEN_PROJECT, changedFiles } from "../src/demo/project-copy.ts";
import { REPAIR_SCRIPT } from "../src/demo/repair-script.ts";
import { runProjectTests } from "../src/demo/run-project-tests.ts";
import { everyWire, openWorkspace } from "./keelson-process.ts";

// Each test runs the suite of the broken project several times.
vi.setConfig({ testTimeout: 90_000 });

/** A model for each wire, and one of a vendor who is compatible after his own fashion. */
const MODELS = {
  "anthropic/claude-sonnet-4-5": "anthropic-messages",
  "openai/gpt-5-mini": "openai-chat",
  "openai-responses/gpt-5-mini": "openai-responses",
  "gemini/gemini-3-pro-preview": "gemini",
  "ollama/qwen3:8b": "ollama-chat",
  "mistral/mistral-medium-latest": "openai-chat",
} as const;

/** Plays the repair as a model would: by what the tools answered to the turns before. */
function repairTurn(request: ServerRequest): ServerTurn {
  const messages = requestMessages(request);
  const turns = messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role !== "assistant").length;
  const seen = messages.map(({ role, results }): Message => ({
    role,
    content: results.map((output, at) => ({ type: "tool-result", id: `c_${at}` as CallId, name: "", output })),
  }));
  const turn = REPAIR_SCRIPT[turns]?.({ model: request.model, messages: seen });
  return { thinking: `Step ${turns + 1}: what do the tools say?`, ...(turn ?? { text: "There is nothing left to say." }) };
}

describe("keelson -p with a model over each wire", () => {
  it.each(Object.keys(MODELS) as (keyof typeof MODELS)[])("repairs the broken project: %s", async (model) => {
    await using workspace = await openWorkspace(repairTurn);
    await cp(BROKEN_PROJECT, workspace.project, { recursive: true });
    const task = "The tests of this project fail. Find the bugs, fix them, and show that the whole suite passes.";
    const options = ["--permission-mode", "accept-edits", "--allow", "bash(node --test*)"];
    const { code, stdout, stderr } = await workspace.start(["-p", "--model", model, ...options, task], { env: everyWire(workspace.server) })
      .finished;

    expect(workspace.server.refused).toEqual([]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^## All 18 tests pass\n/)]);
    expect(stderr).toMatch(/5 of 18 tests fail\n/);
    expect(stderr).toContain(`✔ complete · ${model} · 8 turns`);
    expect((await runProjectTests(workspace.project)).counts).toMatchObject({ total: 18, passed: 18 });
    expect((await changedFiles(BROKEN_PROJECT, workspace.project)).map(({ path }) => path)).toEqual(["src/money.js", "src/split.js"]);
    expect(workspace.server.requests.map(({ wire, streamed }) => [wire, streamed])).toEqual(Array(8).fill([MODELS[model], true]));
    expect(model).toBe(`${model.slice(0, model.indexOf("/"))}/${workspace.server.requests[0]?.model}`);
  });
});
