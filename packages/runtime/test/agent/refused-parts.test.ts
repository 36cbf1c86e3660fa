import {
  ModelError,
  type Content,
  type InferEvent,
  type InferRequest,
  type JsonValue,
  type Message,
  type Provider,
} from "@keelson/protocol";
import { createAgent, defineTool } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

/** A PNG as far as anybody reads it here; `mark` tells one from another. */
function picture(mark: string): Content {
  const bytes = Buffer.alloc(40);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(5, 16);
  bytes.writeUInt32BE(5, 20);
  bytes.write(mark, 33, "latin1");
  return { type: "image", mediaType: "image/png", data: bytes.toString("base64") };
}
const text = (words: string): Content => ({ type: "text", text: words });
const broken: Content = { type: "image", mediaType: "image/png", data: Buffer.from("<html>no picture</html>").toString("base64") };

/** A vendor who refuses requests with words of this API for as long as `refuses` finds something, and then says what he was shown. */
function vendor(wire: string, refuses: (request: InferRequest) => string | undefined): Provider & { readonly requests: InferRequest[] } {
  const requests: InferRequest[] = [];
  return {
    name: "picky/model",
    wire,
    requests,
    async *stream(request: InferRequest): AsyncGenerator<InferEvent> {
      requests.push({ ...request, messages: [...request.messages] });
      const message = refuses(request);
      if (message !== undefined) throw new ModelError({ kind: "invalid-request", status: 400, message });
      yield { type: "text-delta", text: `I see ${imagesIn(request.messages).length}.` };
      yield {
        type: "end",
        stopReason: "end-turn",
        rawStopReason: null,
        usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null },
        model: "m",
      };
    },
  } as Provider & { readonly requests: InferRequest[] };
}

function imagesIn(messages: readonly Message[]): readonly Content[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((part) => {
      const inner = part.type === "tool-result" ? (part.output as { readonly content?: readonly Content[] }).content : undefined;
      return (inner ?? [part]).filter(({ type }) => type === "image");
    }),
  );
}
const holds = ({ messages }: InferRequest, mark: string): boolean =>
  imagesIn(messages).some((part) => Buffer.from((part as { readonly data: string }).data, "base64").includes(mark));

describe("a request that is refused for one part", () => {
  it.each([
    ["named by its place", "anthropic-messages", "messages.0.content.1.image.source.base64.data: could not be processed", "bad", "good"],
    ["named by nothing but its kind", "openai-chat", "The image data you provided does not represent a valid image.", "good", "bad"],
  ])("goes again without it, with a note in its place, for good: %s", async (_case, wire, words, first, second) => {
    const model = vendor(wire, (request) => (holds(request, "bad") ? words : undefined));
    const services = sharedServices();
    const runner = runnerOf(createAgent({ name: "a", model }), services);
    const input = [text("Look:"), picture(first), text("and"), picture(second)];
    const { events, outcome } = await watch(runner.run(input, { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "I see 1." });
    expect(model.requests).toHaveLength(2);
    expect(holds(model.requests[1] as InferRequest, "good")).toBe(true);
    expect(JSON.stringify(model.requests[1]?.messages)).toMatch(
      /Here stood a picture \(image\/png, 40 bytes\). It was left out, since the vendor refused it: [^"]*image/,
    );
    expect(ofType(events, "retry")).toMatchObject([{ reason: "refused-part" }]);
    expect(ofType(events, "compaction")).toMatchObject([{ level: "refused" }]);
    expect(await runnerOf(createAgent({ name: "a", model }), services).run("And now?", { session: "s" }).outcome).toMatchObject({
      text: "I see 1.",
    });
    expect(model.requests).toHaveLength(3);
  });

  it("is not tried for ever: four parts are left out one by one, then all, then the run ends as the vendor said", async () => {
    const input = Array.from({ length: 9 }, (_, index) => picture(String(index)));
    const model = vendor("openai-chat", () => "unsupported image");
    const outcome = await runnerOf(createAgent({ name: "a", model })).run(input, { session: "s" }).outcome;
    expect(outcome.error?.message).toBe("unsupported image");
    expect(model.requests.map(({ messages }) => imagesIn(messages).length)).toEqual([9, 8, 7, 6, 5, 0]);
  });

  it("ends the run where the vendor speaks of something else", async () => {
    const model = vendor("openai-chat", () => "temperature must be at most 2");
    const outcome = await runnerOf(createAgent({ name: "a", model })).run([picture("x")]).outcome;
    expect([outcome.reason, model.requests.length]).toEqual(["error", 1]);
  });

  it("goes without earlier reasoning where a signature of that is refused", async () => {
    const signed: Provider = scriptedModel([]);
    const model = vendor("anthropic-messages", ({ messages }) =>
      messages.some(({ content }) => content.some(({ type }) => type === "thinking"))
        ? "messages.1.content.0: Invalid `signature` in `thinking` block"
        : undefined,
    );
    const thinking: Provider = {
      ...signed,
      name: "picky/model",
      wire: "anthropic-messages",
      async *stream(request) {
        if (request.messages.length > 1) return yield* model.stream(request);
        yield { type: "thinking-delta", text: "Hm." };
        yield { type: "thinking-end", providerData: { wire: "anthropic-messages", signature: "s" } };
        yield { type: "text-delta", text: "Hello." };
        yield {
          type: "end",
          stopReason: "end-turn",
          rawStopReason: null,
          usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null },
          model: "m",
        };
      },
    };
    const runner = runnerOf(createAgent({ name: "a", model: thinking }));
    await runner.run("Hi", { session: "s" }).outcome;
    expect(await runner.run("Go on", { session: "s" }).outcome).toMatchObject({ reason: "complete" });
  });
});

describe("an image that can't be one", () => {
  it("is refused before it is kept, where somebody says it", async () => {
    const runner = runnerOf(createAgent({ name: "a", model: scriptedModel(["x"]) }));
    expect(() => runner.run([text("Look:"), broken], { session: "s" })).toThrow(
      /^input\[1\] is an image that can't be shown to scripted\/model: its bytes are no PNG image/,
    );
    await expect(runner.sessions.get("s")).rejects.toThrow(/no session/);
    const run = runner.run("go");
    await expect(run.steer({ role: "user", content: [broken] })).rejects.toThrow(/message\[0\] is an image that can't be shown/);
    await run.outcome;
  });

  it("is left out of what a tool returns, and the model is told why", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      effect: "read",
      input: { type: "object" },
      execute: () => ({ type: "content", content: [text("a.png"), broken, picture("good")] }) as never,
    });
    const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "Done."]);
    const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model, tools: [look] })).run("go"));
    expect(outcome.reason).toBe("complete");
    const [result] = ofType(events, "tool-result");
    expect(result?.isError).toBe(false);
    expect((result?.output as { readonly content: JsonValue }).content).toEqual([
      text("a.png"),
      text("[An image was left out: its bytes are no PNG image: it is damaged, cut off, or something else.]"),
      picture("good"),
    ]);
  });
});
