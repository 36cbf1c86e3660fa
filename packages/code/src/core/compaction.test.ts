import type { ModelRegistry } from "keelson/providers";
import { expect, it } from "vitest";
import { compactedAt } from "./compaction.ts";

it("shortens a conversation at two fifths of a window, at 150,000 tokens of a larger one, and at two fifths if the window is unknown", () => {
  const models = {
    resolve(model: string) {
      if (model === "gone") throw new Error("there is no key");
      return { facts: model === "unknown" ? {} : { contextWindow: Number(model) } };
    },
  } as unknown as Pick<ModelRegistry, "resolve">;
  const parts = ["200000", "1000000", "unknown", "gone"].map((model) => compactedAt(models, model));
  expect(parts).toEqual([0.4, 0.15, 0.4, 0.4]);
});
