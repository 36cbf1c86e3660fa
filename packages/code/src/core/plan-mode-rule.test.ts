import type { InferRequest, PermissionMode } from "@keelson/protocol";
import { createAgent, createRunner, type Run } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { defineTool } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { createPlanModeRule } from "./plan-mode-rule.ts";

/** Returns the first sentence of each system message of a request. */
function told({ messages }: InferRequest): readonly string[] {
  return messages.flatMap(({ role, content }) =>
    role === "system" ? content.flatMap((part) => (part.type === "text" ? [part.text.slice(0, part.text.indexOf(".") + 1)] : [])) : [],
  );
}

/** Runs an agent whose tool sets these modes, one after another. @returns its model, and a function that starts another run */
async function requestsOf(
  modes: readonly PermissionMode[],
  { first = "default", canPresent = true }: { readonly first?: PermissionMode; readonly canPresent?: boolean } = {},
) {
  let run: Run | undefined;
  const left = [...modes];
  const change = defineTool({
    name: "change",
    description: "Changes the mode.",
    effect: "read",
    input: { type: "object" },
    execute: async () => (await run?.setPermissionMode(left.shift() as PermissionMode), "changed"),
  });
  const call: ScriptedTurn = { toolCalls: [{ name: "change", input: {} }] };
  const model = scriptedModel([...modes.map(() => call), "done", "done"]);
  const agent = createAgent({
    name: "a",
    model,
    instructions: "Be careful.",
    tools: [change],
    permissions: { mode: first },
    loopGuard: false,
    rules: [createPlanModeRule({ canPresent })],
  });
  const runner = createRunner({ agent });
  run = runner.run("go", { session: "s" });
  expect((await run.outcome).reason).toBe("complete");
  const next = async (permissionMode: PermissionMode): Promise<void> => {
    await runner.run("again", { session: "s", permissionMode }).outcome;
  };
  return { model, next };
}

const [ON, OFF] = ["Plan mode is on.", "Plan mode is off."];

describe("the rule that tells the model of plan mode", () => {
  it("says so once before the first request of a run in it, and again when it ends or begins", async () => {
    const { model } = await requestsOf(["plan-only", "accept-edits", "default", "plan-only"], { first: "plan-only" });
    expect(model.requests.map(told)).toEqual([[ON], [ON], [ON, OFF], [ON, OFF], [ON, OFF, ON]]);
    expect(new Set(model.requests.map(({ system }) => system))).toEqual(new Set(["Be careful."]));
  });

  it("says nothing in any other mode", async () => {
    const { model } = await requestsOf(["accept-edits", "bypass-all", "default"]);
    expect(model.requests.map(told)).toEqual([[], [], [], []]);
  });

  it("says in the next run of a session that plan mode is over, and never twice the same", async () => {
    const { model, next } = await requestsOf([], { first: "plan-only" });
    await next("default");
    expect(model.requests.map(told)).toEqual([[ON], [ON, OFF]]);
    expect(JSON.stringify(model.requests[1])).toContain("The permission mode is default: you can change files");
  });

  it("names the tool for plans only if there is one", async () => {
    for (const canPresent of [true, false]) {
      const { model } = await requestsOf([], { first: "plan-only", canPresent });
      const text = JSON.stringify(model.requests[0]);
      expect(text.includes("present_plan")).toBe(canPresent);
      expect(text.includes("Answer with the complete plan")).toBe(!canPresent);
    }
  });
});
