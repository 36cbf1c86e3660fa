import { createAgent, defineTool, type Tool } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { JsonObject, JsonValue, ToolCall } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

type Step = { readonly keep?: JsonValue; readonly fail?: true };
const calling = (...steps: readonly Step[]): ScriptedTurn => ({
  toolCalls: steps.map((input) => ({ name: "step", input: input as JsonObject })),
});

/** A tool that keeps what it is given, and notes what it and its effects see. */
function stepTool(): Tool & { readonly seen: unknown[]; readonly planned: unknown[] } {
  const seen: unknown[] = [];
  const planned: unknown[] = [];
  const tool = defineTool({
    name: "step",
    description: "Keeps a value.",
    effect: "read",
    concurrency: "exclusive",
    input: { type: "object" },
    effectsOf: (_input, { kept }) => {
      planned.push(kept?.["at"]);
      return {};
    },
    execute(input, call: ToolCall) {
      const { keep, fail } = input as Step;
      seen.push(call.kept?.["at"]);
      if (keep !== undefined) call.keep?.("at", keep);
      if (fail) throw new Error("it failed");
      return "done";
    },
  });
  return Object.assign(tool, { seen, planned });
}

describe("a value that a tool keeps", () => {
  it("is seen by the calls of later responses and by what their tools say beforehand, not by those of the same response", async () => {
    const step = stepTool();
    const agent = createAgent({ name: "a", model: scriptedModel([calling({ keep: 1 }, { keep: 2 }), calling({}), "done"]), tools: [step] });
    await runnerOf(agent).run("go").outcome;
    expect([step.seen, step.planned]).toEqual([
      [undefined, undefined, 2],
      [undefined, undefined, 2],
    ]);
  });

  it("is not kept by a call that throws, and not if it is too large", async () => {
    const step = stepTool();
    const turns = [calling({ keep: 1 }), calling({ keep: 2, fail: true }), calling({ keep: "x".repeat(70_000) }), calling({}), "done"];
    const agent = createAgent({ name: "a", model: scriptedModel(turns), tools: [step] });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(step.seen).toEqual([undefined, 1, 1, 1]);
    expect(ofType(events, "tool-result").at(2)?.output).toContain("the limit is 65536");
  });

  it("lasts for later runs of the session, for forks, and goes back with a rewind", async () => {
    const services = sharedServices();
    const step = stepTool();
    const turns = [calling({ keep: "one" }), "done", calling({ keep: "two" }), "done", calling({}), "done", calling({}), "done"];
    const runner = runnerOf(createAgent({ name: "a", model: scriptedModel(turns), tools: [step] }), services);
    await runner.run("go", { session: "s" }).outcome;
    await runner.run("go", { session: "s" }).outcome;
    const fork = await runner.sessions.fork("s");
    await runner.run("go", { session: fork }).outcome;
    await runner.sessions.rewind("s", 2);
    await runner.run("go", { session: "s" }).outcome;
    expect(step.seen).toEqual([undefined, "one", "two", "one"]);
  });
});
