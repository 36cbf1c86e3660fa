import { readFileSync } from "node:fs";
import { textMessage, type OperatorInput, type Scope } from "@keelson/protocol";
import { createAgent } from "keelson";
import { rulesFrom } from "keelson/context";
import {
  createDispatchStack,
  createExecStack,
  createStoreStack,
  denyOperators,
  logDispatches,
  withDispatchMiddleware,
  withStoreMiddleware,
} from "keelson/middleware";
import { agentOperator, createLocalOrchestrator } from "keelson/orchestration";
import { mockStateStore, scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, watch } from "./support.ts";

describe("what the guide recommends", () => {
  it("exists: for budgets, tool policy, redaction, telemetry, encryption and steering [BM-05, BM-10]", async () => {
    const guide = readFileSync(new URL("../../../../docs/guides/middleware.md", import.meta.url), "utf8");
    const table = guide.slice(guide.indexOf("## What to use for what"));
    for (const name of ["afterInference", "beforeToolCall", "afterToolCall", "beforeSteeringInject", "logDispatches"])
      expect(table).toContain(`\`${name}\``);
    for (const createStack of [createDispatchStack, createStoreStack, createExecStack]) {
      const builder = createStack();
      for (const method of ["observe", "transform", "guard", "build"] as const) expect(builder[method]).toBeTypeOf("function");
    }

    const fired: string[] = [];
    const rules = rulesFrom({
      name: "guide",
      afterInference: () => void fired.push("budget"),
      beforeToolCall: (tool) => void fired.push(`policy ${tool}`),
      afterToolCall: () => ({ type: "modify-output", output: "[REDACTED]" }),
      beforeSteeringInject: (messages) => void fired.push(`steering ${messages.length}`),
    });
    const model = scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "done"]);
    const look = recordingTool("look", { effect: "read", output: () => "AKIA1234567890ABCDEF" });
    const runner = runnerOf(createAgent({ name: "a", model, tools: [look], rules }));
    const entries: string[] = [];
    const orchestrator = createLocalOrchestrator({
      operators: { a: agentOperator(runner, "a") },
      middleware: createDispatchStack()
        .observe(logDispatches({ now: () => 0, write: ({ operator }) => void entries.push(operator) }))
        .build(),
    });
    const input: OperatorInput = { message: [{ type: "text", text: "go" }], trigger: "user", metadata: {} };
    const id = await orchestrator.start("a", input);
    await orchestrator.signal(id, { kind: "user-message", payload: "and hurry" });
    await orchestrator.attach(id);
    expect(fired).toEqual(expect.arrayContaining(["budget", "policy look", "steering 1"]));
    expect(JSON.stringify(model.requests[1])).toContain("[REDACTED]");
    expect(JSON.stringify(model.requests[1])).not.toContain("AKIA1234567890ABCDEF");
    expect(entries).toEqual(["a"]);

    const scope: Scope = { type: "global" };
    const inner = mockStateStore();
    const encrypted = withStoreMiddleware(
      inner,
      createStoreStack()
        .transform({
          name: "base64",
          write: (_scope, _key, value, _options, next) => next(undefined, undefined, btoa(JSON.stringify(value))),
          async read(_scope, _key, next) {
            const found = await next();
            return found && { ...found, value: JSON.parse(atob(String(found.value))) };
          },
        })
        .build(),
    );
    await encrypted.write(scope, "secret", { pin: 1234 });
    expect(inner.writes[0]?.value).toBe(btoa('{"pin":1234}'));
    expect((await encrypted.read(scope, "secret"))?.value).toEqual({ pin: 1234 });
  });

  it("holds for agents behind an orchestrator: one that is denied makes no request to its model [BM-07]", async () => {
    const model = scriptedModel(["never"]);
    const runner = runnerOf(createAgent({ name: "a", model }));
    const local = createLocalOrchestrator({ operators: { a: agentOperator(runner, "a") } });
    const guarded = withDispatchMiddleware(
      local,
      createDispatchStack()
        .guard(denyOperators(["a"]))
        .build(),
    );
    const message = textMessage("user", "go").content;
    await expect(guarded.dispatch("a", { message, trigger: "user", metadata: {} })).rejects.toMatchObject({
      failure: { kind: "policy-denied" },
    });
    expect(model.requests).toEqual([]);
    expect((await watch(runner.run("go"))).outcome.text).toBe("never");
  });
});
