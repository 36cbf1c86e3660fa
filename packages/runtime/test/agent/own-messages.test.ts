import { createAgent, createRunner, type AgentOptions } from "keelson";
import { ruleBefore } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { messageCodec, type JsonValue } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { declare, declaring } from "./declaring.ts";
import { ofType, sharedServices, watch } from "./support.ts";

const CUT: ScriptedTurn = { text: "One, two, ", stopReason: "max-tokens" };
const WRONG = '{"total": "much"}';

/** What the runtime says to the model on its own account, each in a run where it does so once. */
const OCCASIONS: readonly (readonly [string, readonly ScriptedTurn[], Partial<AgentOptions<unknown>>])[] = [
  ["that it is to go on where it was cut off", [CUT, "three."], { onMaxTokens: "continue" }],
  ["what is wrong with its output", [WRONG, '{"total": 3}'], { output: z.object({ total: z.number() }), outputMode: "prompt" }],
  [
    "what came of an agent in the background",
    [declare({ type: "spawn-agent", name: "helper", config: { task: "find it" } }), "Waiting.", "Thanks."],
    { tools: [declaring()] },
  ],
];

describe.each(OCCASIONS)("a message of the runtime's own, %s,", (_what, turns, options) => {
  async function telling(rule: (input: JsonValue) => { readonly type: "modify-input"; readonly input: JsonValue } | "drop" | undefined) {
    const model = scriptedModel(turns);
    const seen: string[] = [];
    const agent = createAgent({
      name: "lead",
      model,
      ...options,
      rules: [
        ruleBefore("inject-message", "looks", 0, ({ input = null }) => {
          seen.push(textIn(input));
          const action = rule(input);
          return action === "drop" ? { type: "skip", output: null } : action;
        }),
      ],
    });
    const helper = createAgent({ name: "helper", model: scriptedModel(["Found it."]) });
    const { outcome, events } = await watch(
      createRunner({ ...sharedServices(), agents: { lead: agent, helper } }).run("go", { agent: "lead" }),
    );
    const sent = model.requests.map(({ messages }) => JSON.stringify(messages));
    return { outcome, events, seen, sent };
  }

  const textIn = (input: JsonValue): string =>
    messageCodec
      .decode((input as { readonly message: JsonValue }).message)
      .content.map((part) => (part.type === "text" ? part.text : ""))
      .join("");

  it("is shown to rules, and reaches the model as they leave it", async () => {
    const { outcome, seen, sent } = await telling(() => ({
      type: "modify-input",
      input: { message: { role: "user", content: [{ type: "text", text: "In other words." }] } },
    }));
    expect(outcome.reason).toBe("complete");
    expect(seen).toHaveLength(1);
    expect(sent.at(-1)).toContain("In other words.");
    expect(sent.at(-1)).not.toContain(JSON.stringify(seen[0]).slice(1, -1));
  });

  it("is not told where a rule drops it, and the run goes on", async () => {
    const { outcome, events, seen, sent } = await telling(() => "drop");
    expect(outcome.error).toBeUndefined();
    expect(outcome.reason).toBe("complete");
    expect(seen).toHaveLength(1);
    for (const request of sent) expect(request).not.toContain(JSON.stringify(seen[0]).slice(1, -1));
    expect(ofType(events, "message").filter(({ path, message }) => path === undefined && message.role === "user")).toHaveLength(1);
  });

  it("ends the run as a panic of the rule that puts something else than a message in its place", async () => {
    for (const input of [null, { message: "go" }, { message: { role: "nobody", content: [] } }] as readonly JsonValue[]) {
      const { outcome, events } = await telling(() => ({ type: "modify-input", input }));
      expect(outcome.error?.failure).toMatchObject({ kind: "panic", callback: "a rule on inject-message" });
      expect(outcome.error?.message).toMatch(
        /^a rule put something in the place of a message that is none \(.+\): return "modify-input" with \{ message \}, or "skip" to drop it$/s,
      );
      expect(ofType(events, "message").filter(({ path, message }) => path === undefined && message.role === "user")).toHaveLength(1);
    }
  });
});
