import { AgentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { definePlugin, type PluginStateKey } from "../../definition/plugins/define-plugin.ts";
import { PluginStateMap } from "./plugin-state-map.ts";

const counter: PluginStateKey<{ count: number }> = { key: "counter" };
const notes = definePlugin({ key: "notes", initialState: { lines: [] as string[] } });

const kindOf = (act: () => unknown): unknown => {
  try {
    act();
    return "nothing thrown";
  } catch (error) {
    return AgentError.is(error, "invalid-option") ? [error.failure.option, error.message] : error;
  }
};

describe("states of plugins", () => {
  it("are registered once for each key, which gives a handle; the second is refused by its name [PL-02]", () => {
    const states = new PluginStateMap();
    states.register(counter, { count: 1 });
    const refusal = ["counter", 'A plugin with the key "counter" is registered already.'];
    expect(kindOf(() => states.register(counter, { count: 2 }))).toEqual(refusal);
    expect(kindOf(() => states.register({ key: "counter" }, { count: 2 }))).toEqual(refusal);
    expect(states.get(counter)).toEqual({ count: 1 });
  });

  it("are looked at as they are, and changed in place by who asks for that; what is not registered is not there [PL-03]", () => {
    const states = new PluginStateMap();
    expect(states.get(counter)).toBeUndefined();
    expect(states.getMut(counter)).toBeUndefined();
    states.register(counter, { count: 1 });
    const looked = states.get(counter);
    expect(() => {
      (looked as { count: number }).count = 9;
    }).toThrow(TypeError);
    const state = states.getMut(counter);
    if (state) state.count++;
    expect(states.get(counter)).toEqual({ count: 2 });
    expect(looked).toEqual({ count: 1 });
  });

  it("are put in or replaced without a condition, but never under the key of another object [PL-04]", () => {
    const states = new PluginStateMap();
    states.insert(counter, { count: 1 });
    states.insert(counter, { count: 2 });
    expect(states.get(counter)).toEqual({ count: 2 });
    expect(kindOf(() => states.insert({ key: "counter" }, { count: 3 }))).toMatchObject(["counter", expect.anything()]);
    expect(states.get(counter)).toEqual({ count: 2 });
  });

  it("serialise to one object by the texts of their keys, which later changes leave alone [PL-05]", () => {
    const states = new PluginStateMap();
    states.register(counter, { count: 1 });
    states.register(notes, { lines: ["a"] });
    const all = states.serializeAll();
    states.getMut(notes)?.lines.push("b");
    expect(all).toEqual({ counter: { count: 1 }, notes: { lines: ["a"] } });
    expect(states.serializeAll()).toEqual({ counter: { count: 1 }, notes: { lines: ["a", "b"] } });
  });

  it("are found by the very object they were registered with: not by an equal key, nor by an inherited name [PL-01, PL-06]", () => {
    const states = new PluginStateMap();
    states.register(counter, { count: 1 });
    for (const key of ["counter", "constructor", "toString", "hasOwnProperty"]) {
      expect(states.get({ key })).toBeUndefined();
      expect(states.getMut({ key })).toBeUndefined();
    }
    expect(Object.keys(states)).toEqual([]);
    expect(JSON.stringify(states)).toBe("{}");
    for (const key of ["__proto__", "", "a/b", "~", "1st", "x".repeat(65)])
      expect(
        kindOf(() => states.register({ key }, {})),
        key,
      ).toMatchObject(["key", expect.anything()]);
    states.register({ key: "constructor" }, { mine: true });
    expect(states.serializeAll()).toEqual({ counter: { count: 1 }, constructor: { mine: true } });
  });

  it("give as their handle the key itself, which is copied like any value and shows what it names [PL-07]", () => {
    const states = new PluginStateMap();
    const handle = states.register(counter, { count: 1 });
    const copy = handle;
    expect(handle).toBe(counter);
    expect(states.get(copy)).toEqual({ count: 1 });
    expect(JSON.stringify(handle)).toBe('{"key":"counter"}');
  });

  it("are copies of JSON: what was given may change later, and what is no JSON is refused with its place", () => {
    const states = new PluginStateMap();
    const given = { lines: ["a"] };
    states.register(notes, given);
    given.lines.push("b");
    expect(states.get(notes)).toEqual({ lines: ["a"] });
    expect(() => states.insert(notes, { lines: [new Map() as never] })).toThrow("an instance of Map at /lines/0");
  });
});

describe("a plugin's definition", () => {
  it.each([
    ["key", { key: "a b", initialState: 1 }],
    ["name", { key: "a", name: "", initialState: 1 }],
    ["initialState", { key: "a", initialState: { when: new Date(0) } }],
    ["onEvent", { key: "a", initialState: 1, onEvent: "often" }],
    ["signalRoutes", { key: "a", initialState: 1, signalRoutes: [{ kind: "stop" }] }],
  ])("with a wrong %s is refused, and the option named", (option, definition) => {
    expect(kindOf(() => definePlugin(definition as never))).toMatchObject([option, expect.anything()]);
  });

  it("does nothing but to have a state where no more is given [PL-09]", () => {
    const plugin = definePlugin({ key: "quiet", initialState: { n: 0 } });
    expect(plugin).toEqual({ key: "quiet", name: "quiet", initialState: { n: 0 }, signalRoutes: [] });
    expect(Object.isFrozen(plugin)).toBe(true);
  });
});
