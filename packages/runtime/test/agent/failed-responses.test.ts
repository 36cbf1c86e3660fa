import { createAgent, createModelRegistry, type Provider } from "keelson";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { scriptedModel, startModelServer, type ScriptedTurn, type ServerTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const wires: { readonly [wire: string]: (url: string) => Provider } = {
  "anthropic-messages": (url) => createAnthropicProvider({ baseUrl: url, apiKey: "k" }),
  "openai-chat": (url) => createOpenAiChatProvider({ baseUrl: `${url}/v1`, apiKey: "k" }),
  "openai-responses": (url) => createOpenAiResponsesProvider({ baseUrl: `${url}/v1`, apiKey: "k" }),
  "gemini": (url) => createGeminiProvider({ baseUrl: url, apiKey: "k" }),
  "ollama-chat": (url) => createOllamaProvider({ baseUrl: url }),
};

const agentOf = (turns: readonly ScriptedTurn[], options: object = {}) => {
  const model = scriptedModel(turns);
  return { model, agent: createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })], ...options }) };
};
const looks: ScriptedTurn = { toolCalls: [{ name: "look" }] };

async function runOver(wire: string, turns: readonly ServerTurn[]) {
  await using server = await startModelServer(turns);
  const provider = (wires[wire] as (url: string) => Provider)(server.url);
  const look = recordingTool("look", { effect: "write" });
  const models = createModelRegistry({ providers: { v: provider } });
  const watched = await watch(runnerOf(createAgent({ name: "a", model: "v/test-model", tools: [look] }), { models }).run("go"));
  return { ...watched, requests: server.requests.length, calls: look.calls.length, refused: server.refused };
}

describe.each(Object.keys(wires))("a response over %s", (wire) => {
  it("whose reason is no good one is asked for again, and its calls do not run", async () => {
    const failed: ServerTurn = { text: "half", toolCalls: [{ name: "look", input: {} }], stopReason: "NETWORK_ERROR" };
    const { outcome, events, requests, calls } = await runOver(wire, [failed, { text: "whole" }]);
    expect([outcome.reason, outcome.text, requests, calls]).toEqual(["complete", "whole", 2, 0]);
    expect(ofType(events, "retry")).toMatchObject([{ attempt: 1, reason: "invalid-response" }]);
  });

  it("that stays empty ends the run with an error, after two more requests", async () => {
    const { outcome, requests } = await runOver(wire, [{ text: "" }, { text: " \n" }, { thinking: "hm" }, { text: "never" }]);
    expect([outcome.reason, requests]).toEqual(["error", 3]);
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "invalid-response" } });
    expect(outcome.error?.message).toMatch(/empty response \(reason ".+"\).*asked again 2 times/);
  });

  it("that is empty after results is followed by a question that the vendor takes", async () => {
    const { outcome, requests, refused } = await runOver(wire, [
      { toolCalls: [{ name: "look", input: {} }] },
      { thinking: "hm" },
      { text: "Done." },
    ]);
    expect([outcome.reason, outcome.text, requests, refused]).toEqual(["complete", "Done.", 3, []]);
  });
});

describe("reasons of the vendors", () => {
  it.each([
    ["openai-chat", "error"],
    ["openai-chat", "network_error"],
    ["openai-chat", "function_call_filter: UNEXPECTED_TOOL_CALL"],
    ["openai-chat", "constructor"],
    ["gemini", "MALFORMED_FUNCTION_CALL"],
    ["gemini", "UNEXPECTED_TOOL_CALL"],
    ["gemini", "OTHER"],
    ["ollama-chat", "unload"],
    ["anthropic-messages", "error"],
  ])("over %s, %s fails with the vendor's own word", async (wire, stopReason) => {
    const { outcome } = await runOver(
      wire,
      Array.from({ length: 3 }, () => ({ text: "It looks fine.", stopReason })),
    );
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "invalid-response", code: stopReason } });
    expect(outcome.error?.message).toContain(JSON.stringify(stopReason));
    expect(outcome.text).toBe("It looks fine.");
  });

  const toolReasons = [
    ["openai-chat", "tool_calls"],
    ["openai-chat", "function_call"],
    ["anthropic-messages", "tool_use"],
    ["ollama-chat", "tool_calls"],
  ] as const;

  it.each(toolReasons)("over %s, %s without a call fails, and the model is asked again", async (wire, stopReason) => {
    const lost: ServerTurn = { text: "I look it up.", stopReason };
    const mended = await runOver(wire, [lost, { toolCalls: [{ name: "look", input: {} }] }, { text: "Done." }]);
    expect([mended.outcome.reason, mended.outcome.text, mended.requests, mended.calls]).toEqual(["complete", "Done.", 3, 1]);
    expect(ofType(mended.events, "retry")).toMatchObject([{ attempt: 1, reason: "invalid-response" }]);
    const { outcome, requests } = await runOver(wire, [lost, lost, lost, { text: "never" }]);
    expect([outcome.reason, requests]).toEqual(["error", 3]);
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "invalid-response", code: stopReason } });
    expect(outcome.error?.message).toMatch(/has no call/);
  });

  it("over ollama-chat, tool_calls is no failure if the text itself holds the calls", async () => {
    const text = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>';
    const { outcome, requests, calls } = await runOver("ollama-chat", [{ text, stopReason: "tool_calls" }, { text: "Done." }]);
    expect([outcome.reason, outcome.text, requests, calls]).toEqual(["complete", "Done.", 2, 1]);
  });

  it.each([
    ["openai-chat", "eos", "complete"],
    ["openai-chat", "STOP", "complete"],
    ["openai-chat", "content_filter: SAFETY", "safety-stop"],
    ["openai-chat", "sensitive", "safety-stop"],
    ["openai-chat", "model_context_window_exceeded", "max-output"],
    ["anthropic-messages", "refusal", "safety-stop"],
    ["anthropic-messages", "stop", "complete"],
    ["gemini", "RECITATION", "safety-stop"],
  ])("over %s, %s keeps its ending", async (wire, stopReason, reason) => {
    const { outcome, requests } = await runOver(wire, [{ text: "so", stopReason }]);
    expect([outcome.reason, requests]).toEqual([reason, 1]);
  });

  it("an explained empty response is no failure", async () => {
    for (const [stopReason, reason] of [
      ["max-tokens", "max-output"],
      ["content-filter", "safety-stop"],
      ["stop-sequence", "no-action"],
    ] as const) {
      const { model, agent } = agentOf([{ text: "", stopReason }, "never"]);
      expect([(await runnerOf(agent).run("go").outcome).reason, model.requests.length]).toEqual([reason, 1]);
    }
  });
});

describe("a response that is none", () => {
  const failing = { text: "half", stopReason: "other" } as const;

  it("is asked for twice, then the fallback model is asked", async () => {
    const [first, second] = [scriptedModel([failing, "", { thinking: "hm" }, "never"]), scriptedModel(["", "helped"])];
    const models = createModelRegistry({ providers: { a: first, b: second } });
    const agent = createAgent({ name: "a", model: "a/one", fallbackModel: "b/two" });
    const { outcome, events } = await watch(runnerOf(agent, { models }).run("go"));
    expect([outcome.text, first.requests.length, second.requests.length]).toEqual(["helped", 3, 2]);
    expect(ofType(events, "model-switch")).toMatchObject([{ to: "b/two", reason: "invalid-response" }]);
  });

  it.each([
    [
      "anthropic-messages",
      createAnthropicProvider,
      (...parts: object[]) => ({ type: "message", content: parts, stop_reason: "end_turn" }),
      { type: "novelty", data: "x" },
      { type: "text", text: "Done." },
    ],
    [
      "gemini",
      createGeminiProvider,
      (...parts: object[]) => ({ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] }),
      { novelty: { data: "x" } },
      { text: "Done." },
    ],
  ] as const)("holds nothing but parts of unknown kinds over %s, and is asked for again", async (_, create, body, novelty, text) => {
    const runWith = async (...bodies: readonly object[]) => {
      let at = 0;
      const model = create({ apiKey: "k", fetch: async () => Response.json(bodies[Math.min(at++, bodies.length - 1)]) });
      const outcome = await runnerOf(createAgent({ name: "a", model: "v/m" }), {
        models: createModelRegistry({ providers: { v: model } }),
      }).run("go").outcome;
      return [outcome.reason, outcome.text, at];
    };
    expect(await runWith(body(novelty), body(text))).toEqual(["complete", "Done.", 2]);
    expect(await runWith(body(novelty, text))).toEqual(["complete", "Done.", 1]);
    expect(await runWith(body(novelty))).toEqual(["error", expect.anything(), 3]);
  });

  it("leaves the retries of failed requests as they are, and those leave its own", async () => {
    const down = { error: { kind: "server-error" as const } };
    const { model, agent } = agentOf([down, failing, down, "", down, "ok"]);
    expect((await runnerOf(agent).run("go").outcome).text).toBe("ok");
    expect(model.requests).toHaveLength(6);
    const strict = agentOf([failing, "never"], { limits: { maxRetries: 0 } });
    expect([(await runnerOf(strict.agent).run("go").outcome).reason, strict.model.requests.length]).toEqual(["error", 1]);
  });

  it("counts as a model call, is paid, and stands under the limit of model calls", async () => {
    const { model, agent } = agentOf([{ ...failing, usage: { inputTokens: 100, outputTokens: 7 } }, "", "never"], {
      limits: { maxModelCalls: 2 },
    });
    const { outcome } = await watch(runnerOf(agent).run("go"));
    expect([outcome.reason, model.requests.length]).toEqual(["max-turns", 2]);
    expect(outcome.usage).toMatchObject({ inputTokens: 110, outputTokens: 12 });
  });

  it("is void for subscribers, and what was seen of it stays only where the run ends with it", async () => {
    const { agent, model } = agentOf([failing, "whole"]);
    const { events } = await watch(runnerOf(agent).run("go"));
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : event.type === "retry" ? ["retry"] : []));
    expect(shown).toEqual(["half", "retry", "whole"]);
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("half");
    const services = sharedServices();
    const ended = agentOf([failing, failing, failing]);
    const outcome = await runnerOf(ended.agent, services).run("go", { session: "s" }).outcome;
    expect([outcome.reason, outcome.text, outcome.cut]).toEqual(["error", "half", true]);
  });

  it("reaches the agent's own callback, with its retries", async () => {
    const seen: unknown[] = [];
    const { agent } = agentOf([failing, failing, "never"], {
      onModelError: ({ kind }: { kind: string }, { retryCount }: { retryCount: number }) => {
        seen.push([kind, retryCount]);
        return retryCount === 0 ? { type: "retry" } : { type: "abort", message: "enough" };
      },
    });
    const outcome = await runnerOf(agent).run("go").outcome;
    expect([outcome.error?.message, seen]).toEqual([
      "enough",
      [
        ["invalid-response", 0],
        ["invalid-response", 1],
      ],
    ]);
  });

  it("is no success of a child, of a run with a schema, or of the next run of a session", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const { agent, model } = agentOf(["", '{"n":1}'], { output: schema });
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "complete", output: { n: 1 } });
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("not accepted");
    const runner = runnerOf(agentOf(["one", "", "", ""]).agent);
    expect((await runner.run("go", { session: "s" }).outcome).reason).toBe("complete");
    expect((await runner.run("on", { session: "s" }).outcome).reason).toBe("error");
  });
});

describe("an empty response after results", () => {
  it("is asked once for a closing text, then the run ends without one and says so", async () => {
    const { agent, model } = agentOf([looks, "", " ", "never"]);
    const outcome = await runnerOf(agent).run("go").outcome;
    expect(outcome).toMatchObject({ reason: "no-action", why: expect.stringMatching(/no closing text/) });
    expect(model.requests).toHaveLength(3);
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: expect.stringMatching(/was empty/) }] });
  });

  it("may be followed by more work, after which it is asked again", async () => {
    const { agent, model } = agentOf([looks, "", looks, "", "Done."]);
    expect(await runnerOf(agent).run("go").outcome).toMatchObject({ reason: "complete", text: "Done." });
    expect(model.requests).toHaveLength(5);
  });

  it("is not asked for a text where no model call is left", async () => {
    const { agent, model } = agentOf([looks, "", "never"], { limits: { maxModelCalls: 2 } });
    expect((await runnerOf(agent).run("go").outcome).reason).toBe("no-action");
    expect(model.requests).toHaveLength(2);
  });

  it("is not asked for a text where somebody steered meanwhile", async () => {
    const model = scriptedModel([looks, { text: "", wait: () => run.steer("And the rest?") }, "The rest."]);
    const agent = createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] });
    const run = runnerOf(agent).run("go");
    expect((await run.outcome).text).toBe("The rest.");
    expect(JSON.stringify(model.requests[2]?.messages)).not.toContain("was empty");
  });
});
