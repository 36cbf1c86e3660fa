import type { Provider } from "@keelson/protocol";
import { createModelRegistry } from "keelson/providers";
import { expect, it } from "vitest";
import { compactedAt } from "./compaction.ts";

const anthropic: Provider = {
  name: "anthropic",
  wire: "none",
  // oxlint-disable-next-line require-yield -- it never responds
  async *stream() {
    throw new Error("nobody asks it");
  },
};

it("shortens a conversation at two fifths of a window, at 150,000 tokens of a larger one, and at two fifths if the window is unknown", () => {
  const models = createModelRegistry({ providers: { anthropic } });
  const parts = ["anthropic/claude-haiku-4-5", "anthropic/claude-sonnet-5", "anthropic/unknown", "gone/model"].map((model) =>
    compactedAt(models, model),
  );
  expect(parts).toEqual([0.4, 0.15, 0.4, 0.4]);
});
