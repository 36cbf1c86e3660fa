import { describe, expectTypeOf, it } from "vitest";
import { createAgent } from "../../index.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { ModelErrorAction } from "./agent.ts";

const model = scriptedModel([]);

describe("the options of an agent", () => {
  it("take a callback on model errors that retries, switches or ends, and no other [RN-11, RN-13]", () => {
    expectTypeOf<ModelErrorAction["type"]>().toEqualTypeOf<"retry" | "abort" | "switch-model">();
    createAgent({ name: "a", model, onModelError: () => ({ type: "switch-model", model: "openai/gpt-5-mini" }) });
    createAgent({ name: "a", model, onModelError: () => undefined });
    // @ts-expect-error a failed call left no response to go on from
    createAgent({ name: "a", model, onModelError: () => ({ type: "continue" }) });
    // @ts-expect-error switching needs a model to switch to
    createAgent({ name: "a", model, onModelError: () => ({ type: "switch-model" }) });
  });
});
