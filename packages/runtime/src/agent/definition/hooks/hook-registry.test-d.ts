import type { AgentEvent, Executor, HookPayloads, HookResult, JsonValue } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import type { Hook } from "./hook.ts";
import { createHookRegistry, type HookRegistry } from "./hook-registry.ts";
import { createShellHook } from "../../features/hooks/shell-hook.ts";

declare const exec: Executor;

describe("a hook registry", () => {
  it("types each hook by its point: a payload in, a result or nothing out, at once or later [HK-07, HK-01, HK-11]", () => {
    const registry = createHookRegistry()
      .onPreToolUse("bash", async (payload, context) => {
        expectTypeOf(payload).toEqualTypeOf<{ readonly toolName: string; readonly arguments: JsonValue }>();
        expectTypeOf(context.point).toEqualTypeOf<"pre-tool-use">();
        return { type: "abort", reason: "no" };
      })
      .onPostToolUse("*", ({ output }) => expectTypeOf(output).toEqualTypeOf<JsonValue>() as unknown as undefined)
      .onPreCompact(({ tokenCount }) => void expectTypeOf(tokenCount).toEqualTypeOf<number | null>())
      .onEvent("text-*", ({ event }) => void expectTypeOf(event).toEqualTypeOf<AgentEvent>())
      .onSessionStart(({ resumed }) => (resumed ? { type: "continue" } : undefined));
    expectTypeOf(registry).toEqualTypeOf<HookRegistry>();
    expectTypeOf<Hook<"session-end">>().parameter(0).toEqualTypeOf<HookPayloads["session-end"]>();
    expectTypeOf<HookResult>().toExtend<Awaited<ReturnType<Hook<"notification">>>>();
  });

  it("takes a shell hook at every point, and a result only where it means something", () => {
    createHookRegistry()
      .onPreToolUse("*", createShellHook({ command: "x", exec }))
      .onSessionEnd(createShellHook({ command: "x", exec }));
    createHookRegistry().onPreToolUse("*", () => ({ type: "ask", reason: "sure?" }));
    createHookRegistry().onPostToolUse("*", () => ({ type: "tell", reason: "look" }));
    // @ts-expect-error nobody can be asked about a call that is over
    createHookRegistry().onPostToolUse("*", () => ({ type: "ask", reason: "sure?" }));
    // @ts-expect-error an abort gives its reason
    createHookRegistry().onPreToolUse("*", () => ({ type: "abort" }));
    // @ts-expect-error no command is started for each piece of an answer
    createHookRegistry().onEvent("*", createShellHook({ command: "x", exec }));
    // @ts-expect-error what looks on guards nothing
    createHookRegistry().onSessionEnd(() => {}, { guard: true });
  });
});
