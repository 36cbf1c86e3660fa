import type { PluginInput } from "@keelson/protocol";
import { expectTypeOf, it } from "vitest";
import { createAgent } from "../create-agent.ts";
import type { Provider } from "@keelson/protocol";
import { definePlugin, type PluginState } from "./define-plugin.ts";
import { PluginStateMap } from "../../features/plugins/plugin-state-map.ts";

declare const model: Provider;

it("gives callbacks a turn, perhaps a message, and the plugin's own state [PL-08]", () => {
  expectTypeOf<PluginInput>().toEqualTypeOf<{ readonly turn: number; readonly message?: string }>();
  definePlugin({
    key: "a",
    initialState: { count: 0, lines: [] as string[] },
    onUserMessage(input, state) {
      expectTypeOf(input).toEqualTypeOf<PluginInput>();
      expectTypeOf(state).toEqualTypeOf<PluginState<{ count: number; lines: string[] }>>();
    },
    onEvent({ event }) {
      if (event.type === "tool-result") expectTypeOf(event.durationMs).toEqualTypeOf<number>();
      return [{ type: "stop" }];
    },
  });
});

it("narrows the events of onEvent to those it lists", () => {
  definePlugin({
    key: "a",
    initialState: 0,
    events: ["tool-result", "usage"],
    onEvent({ event }, state) {
      expectTypeOf(event.type).toEqualTypeOf<"tool-result" | "usage">();
      expectTypeOf(state).toEqualTypeOf<PluginState<number>>();
    },
  });
  // @ts-expect-error plugins are not shown what streams
  definePlugin({ key: "a", initialState: 0, events: ["text-delta"], onEvent() {} });
});

it("refuses states that are no JSON, and directives that are none", () => {
  // @ts-expect-error a Map does not survive JSON
  definePlugin({ key: "a", initialState: { seen: new Map<string, number>() } });
  // @ts-expect-error there is no such directive
  definePlugin({ key: "a", initialState: 0, beforeRun: () => [{ type: "dance" }] });
});

it("types states by their keys, and takes plugins of any state in an agent [PL-06, AG-11]", () => {
  const counter = definePlugin({ key: "counter", initialState: { count: 0 } });
  const text = definePlugin({ key: "text", initialState: "x" });
  const states = new PluginStateMap();
  expectTypeOf(states.get(counter)).toEqualTypeOf<{ readonly count: number } | undefined>();
  expectTypeOf(states.getMut(text)).toEqualTypeOf<string | undefined>();
  // @ts-expect-error not the state of this key
  states.insert(counter, { count: "1" });
  createAgent({ name: "a", model, plugins: [counter, text] });
});
