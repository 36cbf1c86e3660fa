import { textMessage, type AgentEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { withoutLastResponse } from "./without-last-response.ts";

const said = (text: string, path?: readonly string[]): AgentEvent =>
  ({ type: "message", message: textMessage("assistant", text), ...(path && { path }) }) as AgentEvent;
const event = (type: string): AgentEvent => ({ type, calls: [] }) as unknown as AgentEvent;

async function follow(events: readonly AgentEvent[]): Promise<readonly [seen: readonly string[], answer: string | undefined]> {
  const work = withoutLastResponse(
    (async function* () {
      yield* events;
    })(),
  );
  const seen: string[] = [];
  for await (const one of work)
    seen.push(one.type === "message" ? one.message.content.map((part) => ("text" in part ? part.text : "")).join("") : one.type);
  return [seen, work.lastResponse()];
}

describe("the work of a run", () => {
  it("has all that was said but the last response, each in its place", async () => {
    const events = [
      said("Let me look."),
      event("tool-calls-start"),
      event("tool-result"),
      event("turn-start"),
      event("text-delta"),
      said("Done."),
      event("turn-end"),
    ];
    expect(await follow([...events, event("run-complete")])).toEqual([
      ["Let me look.", "tool-calls-start", "tool-result", "turn-start", "turn-end", "run-complete"],
      "Done.",
    ]);
  });

  it("has what was said before somebody asked for more", async () => {
    expect(await follow([said("Done."), event("turn-end"), event("turn-start"), said("Really done."), event("run-complete")])).toEqual([
      ["turn-end", "Done.", "turn-start", "run-complete"],
      "Really done.",
    ]);
  });

  it("has no last response where calls came with it, and what children say is never one", async () => {
    expect((await follow([said("I need to ask."), event("tool-calls-start"), event("run-suspend")]))[1]).toBeUndefined();
    expect(await follow([said("Of a child.", ["child"]), event("run-complete")])).toEqual([["Of a child.", "run-complete"], undefined]);
  });
});
