import { createAgent, createRunner, defineTool, type Run, type SingleRunner } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { type ModelServer, requestMessages, type ServerRequest, type ServerTurn, startModelServer } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { impatientClock } from "../agent/support.ts";

/** A model over each wire, and one of a vendor whose manners on the chat wire are his own. */
const MODELS = [
  "anthropic/claude-sonnet-5",
  "openai/gpt-5",
  "openai-responses/gpt-5",
  "gemini/gemini-3-pro",
  "ollama/qwen3",
  "mistral/mistral-large",
] as const;
type Model = (typeof MODELS)[number];
const pairs = MODELS.flatMap((from) => MODELS.filter((to) => to !== from).map((to) => ({ from, to })));
/** They sign or encrypt what their models think, and want it back. */
const SIGNING: ReadonlySet<string> = new Set(["anthropic-messages", "openai-responses", "gemini"]);

/** Providers anew, as in another process: nothing is kept of what was encoded before. */
function registryOf({ url, openAiUrl }: ModelServer): ReturnType<typeof createModelRegistry> {
  const apiKey = "test";
  return createModelRegistry({
    providers: {
      "anthropic": createAnthropicProvider({ apiKey, baseUrl: url }),
      "openai": createOpenAiChatProvider({ apiKey, baseUrl: openAiUrl }),
      "openai-responses": createOpenAiResponsesProvider({ apiKey, baseUrl: openAiUrl, name: "openai-responses" }),
      "gemini": createGeminiProvider({ apiKey, baseUrl: url }),
      "ollama": createOllamaProvider({ apiKey, baseUrl: url }),
      "mistral": createOpenAiCompatibleProvider({ apiKey, baseUrl: openAiUrl, vendor: "mistral" }),
    },
  });
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", mediaType: "image/png", data: PNG } as const;

/** What was said when a request came: everything that it must hold, in this order. */
interface Said {
  readonly words: readonly string[];
  readonly images: number;
  /** The requests before, over this wire, whose thoughts were signed. */
  readonly signatures: readonly number[];
  /** What other models thought, which is nobody else's business. */
  readonly foreign: readonly string[];
}

interface OpenSession {
  readonly server: ModelServer;
  readonly said: readonly Said[];
  /** `fallback`: of the agent. `onLook`: what happens while a tool looks. */
  runner(model: Model, options?: { readonly fallback?: Model; readonly onLook?: () => void }): SingleRunner;
  say(words: string): string;
}

/** A server whose model plays one turn after the other, and notes what each request must hold. */
async function openSession(turns: readonly (ServerTurn & { readonly text: string })[]): Promise<OpenSession & AsyncDisposable> {
  const words: string[] = [];
  const said: Said[] = [];
  const thoughts: { readonly by: ServerRequest; readonly text: string }[] = [];
  let images = 0;
  let played = 0;
  const server = await startModelServer((request) => {
    said.push({
      words: [...words],
      images,
      signatures: thoughts.filter(({ by }) => by.wire === request.wire && SIGNING.has(by.wire)).map(({ by }) => by.index),
      foreign: thoughts.filter(({ by }) => by.wire !== request.wire || by.model !== request.model).map(({ text }) => text),
    });
    const turn = turns[played++];
    if (turn === undefined) throw new Error(`the model has no turn ${played}`);
    if (turn.status !== undefined) return turn;
    words.push(turn.text);
    if (turn.thinking !== undefined) thoughts.push({ by: request, text: turn.thinking });
    return turn;
  });
  const log = createMemoryEventLog();
  const blobs = createMemoryBlobStore();

  return {
    server,
    said,
    runner(model, { fallback, onLook } = {}) {
      const look = defineTool({
        name: "look",
        description: "Looks at something.",
        input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
        effect: "read",
        concurrency: "exclusive",
        execute({ at }) {
          onLook?.();
          words.push(`result of looking at ${String(at)}`);
          if (at === "nothing") throw new Error(words.at(-1));
          if (at !== "picture") return words.at(-1) as string;
          images += 1;
          return { type: "content", content: [{ type: "text", text: words.at(-1) as string }, image] };
        },
      });
      const agent = createAgent({
        name: "a",
        model,
        ...(fallback !== undefined && { fallbackModel: fallback }),
        tools: [look],
        thinking: { type: "enabled", budgetTokens: 2048 },
        limits: { maxRetries: 0 },
      });
      return createRunner({ agent, models: registryOf(server), log, blobs, clock: impatientClock(), random: () => 0.5 });
    },
    say(text) {
      words.push(text);
      if (text.includes("picture")) images += 1;
      return text;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function calling(text: string, ...at: readonly string[]): ServerTurn & { readonly text: string } {
  return { thinking: `thought before ${text}`, text, toolCalls: at.map((each) => ({ name: "look", input: { at: each } })) };
}

function thought(text: string): ServerTurn & { readonly text: string } {
  return { thinking: `thought before ${text}`, text };
}

const limited: ServerTurn & { readonly text: string } = {
  text: "",
  status: 429,
  error: { message: "slow down", type: "rate_limit_error" },
};

/** Which of the words a request lacks, or holds too early. */
function missing(request: ServerRequest, words: readonly string[]): readonly string[] {
  const held = requestMessages(request)
    .filter(({ role }) => role !== "system")
    .map(({ text, results }) => [text, ...results].join("\n"))
    .join("\n");
  let at = 0;
  return words.filter((word) => {
    const found = held.indexOf(word, at);
    if (found >= 0) at = found;
    return found < 0;
  });
}

describe.each(pairs)("a long session between $from and $to", ({ from, to }) => {
  it("goes on with all that was said, found, shown and signed: by setModel, in a new process, by fallback [RN-03, RN-07, AG-05]", async () => {
    await using opened = await openSession([
      // The first run, with one model: two calls at once, one that fails, pictures from both sides.
      calling("first words", "picture", "nothing"),
      calling("second words", "the door"),
      thought("third words"),
      // The second changes models at a turn border.
      calling("fourth words", "the window"),
      calling("fifth words", "the floor"),
      thought("sixth words"),
      // The third goes back, and its second request fails: the other model takes over in the middle of its calls.
      calling("seventh words", "the roof"),
      limited,
      calling("eighth words", "the cellar"),
      thought("ninth words"),
      // The fourth asks the first model once more for everything.
      thought("tenth words"),
    ]);
    const session = { session: "s" };
    const text = (words: string): { readonly type: "text"; readonly text: string } => ({ type: "text", text: opened.say(words) });

    const first = opened.runner(from);
    expect((await first.run([text("what is in the picture?"), image], session).outcome).text).toBe("third words");

    let second: Run | undefined;
    const switched: Promise<void>[] = [];
    const switching = opened.runner(from, {
      onLook: () => {
        if (switched.length === 0 && second !== undefined) switched.push(second.setModel(to));
      },
    });
    second = switching.run([text("and in the house?")], session);
    expect((await second.outcome).text).toBe("sixth words");
    await Promise.all(switched);

    const falling = opened.runner(from, { fallback: to });
    // The model that was set lasts for the session, so whoever goes back says so.
    expect((await falling.run([text("and above and below?")], { ...session, model: from }).outcome).text).toBe("ninth words");
    expect((await opened.runner(to).run([text("what was it all?")], { ...session, model: from }).outcome).text).toBe("tenth words");

    const { server, said } = opened;
    expect(server.refused).toEqual([]);
    const [a, b] = [wireOf(from), wireOf(to)];
    expect(server.requests.map(({ wire }) => wire)).toEqual([a, a, a, a, b, b, a, a, b, b, a]);
    for (const [at, request] of server.requests.entries()) {
      const { words, images, signatures, foreign } = said[at] as Said;
      expect(missing(request, words), `request ${at + 1} over ${request.wire}`).toEqual([]);
      expect(requestMessages(request).reduce((sum, message) => sum + message.images, 0)).toBe(images);
      const sent = JSON.stringify(request.body);
      for (const thought of foreign) expect(sent).not.toContain(thought);
      for (const index of signatures) expect(sent).toContain(Buffer.from(`signature-of:${request.wire}:${index}`).toString("base64"));
    }
  });
});

function wireOf(model: Model): string {
  const wires: { readonly [provider: string]: string } = {
    "anthropic": "anthropic-messages",
    "openai-responses": "openai-responses",
    "gemini": "gemini",
    "ollama": "ollama-chat",
  };
  return wires[model.slice(0, model.indexOf("/"))] ?? "openai-chat";
}
