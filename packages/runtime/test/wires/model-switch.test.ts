import { createAgent, createRunner, defineTool, type Run } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { type ModelServer, scriptedModel, type ServerRequest, type ServerTurn, startModelServer } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, watch } from "../agent/support.ts";

/** A model of each wire, all behind one server that refuses what the vendors refuse, foreign signatures too. */
const MODELS = {
  "anthropic-messages": "anthropic/claude-sonnet-5",
  "openai-chat": "openai/gpt-5",
  "openai-responses": "responses/gpt-5",
  "gemini": "gemini/gemini-3-pro",
  "ollama-chat": "ollama/qwen3",
} as const;
type Wire = keyof typeof MODELS;
const WIRES = Object.keys(MODELS) as Wire[];
const pairs = WIRES.flatMap((from) => WIRES.filter((to) => to !== from).map((to) => ({ from, to })));

function registryOf({ url, openAiUrl }: ModelServer): ReturnType<typeof createModelRegistry> {
  const apiKey = "test";
  return createModelRegistry({
    providers: {
      anthropic: createAnthropicProvider({ apiKey, baseUrl: url }),
      openai: createOpenAiChatProvider({ apiKey, baseUrl: openAiUrl }),
      responses: createOpenAiResponsesProvider({ apiKey, baseUrl: openAiUrl }),
      gemini: createGeminiProvider({ apiKey, baseUrl: url }),
      ollama: createOllamaProvider({ apiKey, baseUrl: url }),
    },
  });
}

/** Wires whose models sign or encrypt what they think. */
const SIGNING: ReadonlySet<Wire> = new Set<Wire>(["anthropic-messages", "openai-responses", "gemini"]);

const calls = (text: string): ServerTurn => ({ thinking: "Where is it?", text, toolCalls: [{ name: "look", input: { at: text } }] });
const limited: ServerTurn = { status: 429, error: { message: "slow down", type: "rate_limit_error" } };

async function served(script: (request: ServerRequest) => ServerTurn, use: (server: ModelServer) => Promise<void>): Promise<void> {
  await using server = await startModelServer(script);
  await use(server);
  expect(server.refused).toEqual([]);
}

function lookTool(hear: () => void = () => undefined): ReturnType<typeof defineTool> {
  return defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object", properties: { at: { type: "string" } } },
    effect: "read",
    execute: (input) => {
      hear();
      return `found ${JSON.stringify(input)}`;
    },
  }) as ReturnType<typeof defineTool>;
}

const thinking = { type: "enabled", budgetTokens: 2048 } as const;
const fast = { clock: impatientClock(), random: () => 0.5 };

describe.each(pairs)("a session that goes from $from to $to", ({ from, to }) => {
  it("falls back in the middle of a tool loop, and the other model reads what was called and found [AG-05]", async () => {
    const first = (request: ServerRequest): ServerTurn => (request.index === 0 ? calls("one") : limited);
    const second = (request: ServerRequest): ServerTurn => (request.index === 2 ? calls("two") : { text: "done" });
    await served(
      (request) => (request.wire === from ? first(request) : second(request)),
      async (server) => {
        const agent = createAgent({
          name: "a",
          model: MODELS[from],
          fallbackModel: MODELS[to],
          thinking,
          tools: [lookTool()],
          limits: { maxRetries: 0 },
        });
        const runner = createRunner({ agent, models: registryOf(server), ...fast });
        const { events, outcome } = await watch(runner.run("the question"));
        expect(outcome).toMatchObject({ reason: "complete", text: "done" });
        expect(ofType(events, "model-switch")).toMatchObject([{ from: MODELS[from], to: MODELS[to], reason: "rate-limit" }]);
        expect(server.requests.map(({ wire }) => wire)).toEqual([from, from, to, to]);
        const sent = JSON.stringify(server.requests[2]?.body);
        for (const said of ["the question", "one", "found"]) expect(sent).toContain(said);
        expect(sent).not.toContain("Where is it?");
      },
    );
  });

  it("switches at the turn border that setModel names, and goes back with all that its first model wants back [RN-07]", async () => {
    await served(
      (request) => (request.index === 0 ? calls("one") : { thinking: "Hm.", text: `answer ${request.index}` }),
      async (server) => {
        let run: Run<unknown> | undefined;
        const switching: Promise<void>[] = [];
        const agent = createAgent({
          name: "a",
          model: MODELS[from],
          tools: [lookTool(() => void switching.push(run?.setModel(MODELS[to]) ?? Promise.resolve()))],
        });
        const runner = createRunner({ agent, models: registryOf(server), ...fast });
        run = runner.run("the question", { session: "s" });
        expect(await run.outcome).toMatchObject({ reason: "complete", text: "answer 1" });
        await Promise.all(switching);
        const back = await runner.run("and then?", { session: "s", model: MODELS[from] }).outcome;
        expect(back).toMatchObject({ reason: "complete", text: "answer 2" });
        expect(server.requests.map(({ wire }) => wire)).toEqual([from, to, from]);
        const sent = JSON.stringify(server.requests[2]?.body);
        for (const said of ["the question", "one", "found", "answer 1", "and then?"]) expect(sent).toContain(said);
        if (SIGNING.has(from)) expect(sent).toContain(Buffer.from(`signature-of:${from}:0`).toString("base64"));
      },
    );
  });

  it("switches where onModelError says so [RC-08]", async () => {
    await served(
      (request) => (request.wire === from ? limited : { text: "switched" }),
      async (server) => {
        const agent = createAgent({ name: "a", model: MODELS[from], onModelError: () => ({ type: "switch-model", model: MODELS[to] }) });
        const { events, outcome } = await watch(createRunner({ agent, models: registryOf(server), ...fast }).run("go"));
        expect(outcome).toMatchObject({ reason: "complete", text: "switched" });
        expect(ofType(events, "model-switch")).toHaveLength(1);
      },
    );
  });
});

describe("a scripted model", () => {
  it("may take over from one of another wire", async () => {
    const first = scriptedModel([{ toolCalls: [{ name: "look" }] }, { error: { kind: "server-error", message: "gone" } }], {
      name: "one/a",
      wire: "one",
    });
    const second = scriptedModel(["taken over"], { name: "two/b", wire: "two" });
    const agent = createAgent({ name: "a", model: first, fallbackModel: second, tools: [lookTool()], limits: { maxRetries: 0 } });
    const outcome = await createRunner({ agent, ...fast }).run("go").outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "taken over" });
    expect(second.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });
});
