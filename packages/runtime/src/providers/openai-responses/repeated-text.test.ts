import type { InferResponse } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { startModelServer } from "../../testing/model-server.ts";
import { infer, textOf } from "../infer.ts";
import { createOpenAiChatProvider } from "../openai-chat.ts";
import { createOpenAiResponsesProvider } from "../openai-responses.ts";

const SAID = "The tests fail because the clock of the runner is not the clock of the log.";
const LONGER = `${SAID} Give both the same one, and they pass.`;
const ask = { model: "m", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "why?" }] }] };

async function responseTo(events: readonly object[], provider: "responses" | "chat" = "responses"): Promise<InferResponse> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  await using server = await startModelServer([{ misbehave: { body, contentType: "text/event-stream" } }]);
  const options = { baseUrl: server.openAiUrl, apiKey: "k" };
  return await infer(provider === "chat" ? createOpenAiChatProvider(options) : createOpenAiResponsesProvider(options), ask);
}

const usage = { input_tokens: 5, output_tokens: 20 };
const message = (id: string, ...texts: readonly string[]): object => ({
  id,
  type: "message",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
});
const reasoning = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "abc" };
const call = (id: string): object => ({ id, type: "function_call", call_id: "call_a", name: "look", arguments: "{}" });
const completed = (...output: readonly object[]): object => ({
  type: "response.completed",
  response: { id: "r", status: "completed", model: "m", output, usage },
});
const added = (output_index: number | undefined, item: object): object => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number | undefined, item: object): object => ({ type: "response.output_item.done", output_index, item });
const deltas = (output_index: number | undefined, item_id: string, text: string): readonly object[] =>
  (text.match(/.{1,9}/gs) ?? []).map((delta) => ({ type: "response.output_text.delta", output_index, item_id, content_index: 0, delta }));

describe("text that a server of Responses sends again is not doubled", () => {
  it("where the last event lists the message at another place, under another id, or under none", async () => {
    const streamed = [added(0, reasoning), done(0, reasoning), added(1, message("msg_1")), ...deltas(1, "msg_1", SAID)];
    for (const last of [message("msg_1", SAID), message("other", SAID), message("", SAID)])
      expect(textOf(await responseTo([...streamed, completed(last)]))).toBe(SAID);
    expect(textOf(await responseTo([...streamed, done(1, message("msg_1", SAID)), completed(message("other", SAID), reasoning)]))).toBe(
      SAID,
    );
  });

  it("where the item's end comes at another place than its pieces", async () => {
    const events = [added(0, message("msg_1")), ...deltas(0, "msg_1", SAID), done(3, message("msg_1", SAID))];
    expect(textOf(await responseTo([...events, completed(message("msg_1", SAID))]))).toBe(SAID);
  });

  it("where no event names a place", async () => {
    const at = undefined;
    const events = [added(at, message("msg_1")), ...deltas(at, "msg_1", SAID), done(at, message("msg_1", SAID))];
    const response = await responseTo([...events, completed(message("msg_1", SAID))]);
    expect(response.content.filter(({ type }) => type === "text")).toMatchObject([{ text: SAID }]);
  });

  it("where message follows message, each with all of the text up to there", async () => {
    const events = [
      ...[added(0, message("a")), ...deltas(0, "a", SAID), done(0, message("a", SAID))],
      ...[added(1, reasoning), done(1, reasoning)],
      ...[added(2, message("b")), ...deltas(2, "b", LONGER), done(2, message("b", LONGER))],
      ...[added(3, message("c")), done(3, message("c", LONGER))],
      completed(message("d", LONGER)),
    ];
    expect(textOf(await responseTo(events))).toBe(LONGER);
  });

  it("where the last delta is the whole text", async () => {
    const whole = { type: "response.output_text.delta", output_index: 0, item_id: "a", content_index: 0, delta: SAID };
    const events = [added(0, message("a")), ...deltas(0, "a", SAID), whole, done(0, message("a", SAID)), completed(message("a", SAID))];
    expect(textOf(await responseTo(events))).toBe(SAID);
  });

  it("and no call that is listed elsewhere is made twice", async () => {
    const events = [added(0, reasoning), added(1, call("fc_1")), done(1, call("fc_1")), completed(call("other"), reasoning)];
    expect((await responseTo(events)).toolCalls).toHaveLength(1);
  });
});

describe("text that only looks like a repetition is kept", () => {
  it("of messages that differ, begin alike, or say little", async () => {
    const two = async (first: string, second: string): Promise<string> =>
      textOf(
        await responseTo([
          ...[added(0, message("a")), ...deltas(0, "a", first), done(0, message("a", first))],
          ...[added(1, message("b")), ...deltas(1, "b", second), done(1, message("b", second))],
          completed(message("a", first), message("b", second)),
        ]),
      );
    expect(await two("Ok. ", "Ok. ")).toBe("Ok. Ok. ");
    expect(await two(SAID, "The tests pass.")).toBe(`${SAID}The tests pass.`);
    expect(await two(SAID, "The tests fail")).toBe(`${SAID}The tests fail`);
    expect(await two(SAID, "Done.")).toBe(`${SAID}Done.`);
  });

  it("of a response that was not streamed at all", async () => {
    expect(textOf(await responseTo([completed(reasoning, message("a", "One. ", "Two. "), message("b", "Three."))]))).toBe(
      "One. Two. Three.",
    );
  });
});

it("a last chunk of Chat Completions that says the whole message again does not double it, behind calls either", async () => {
  const chunk = (choice: object): object => ({ id: "c", choices: [{ index: 0, ...choice }] });
  const text = chunk({ delta: { content: SAID } });
  const called = chunk({ delta: { tool_calls: [{ index: 0, id: "call_a", function: { name: "look", arguments: "{}" } }] } });
  const whole = { role: "assistant", content: SAID, tool_calls: [{ id: "call_a", function: { name: "look", arguments: "{}" } }] };
  const response = await responseTo([text, called, chunk({ message: whole, finish_reason: "tool_calls" })], "chat");
  expect([textOf(response), response.toolCalls.length]).toEqual([SAID, 1]);
});
