import { describe, expect, it } from "vitest";
import { rankPaths } from "./rank-paths.ts";

const PROJECT = Array.from({ length: 100_000 }, (_, index) => `packages/part-${index % 300}/src/file-${index}.ts`);

describe("rankPaths", () => {
  it("gives other work its turn in a project of 100,000 files, and stops when a key makes it void", async () => {
    const controller = new AbortController();
    let pauses = 0;
    const ranked = await rankPaths(PROJECT, "file99999", {
      limit: 3,
      signal: controller.signal,
      async pause() {
        pauses += 1;
      },
    });
    expect([ranked[0], ranked.length > 0, pauses]).toEqual(["packages/part-99/src/file-99999.ts", true, 99]);
    const stopped = await rankPaths(PROJECT, "f", { limit: 3, signal: controller.signal, pause: async () => controller.abort() });
    expect(stopped).toEqual([]);
  });

  it("prefers a match in the name to one that is spread over folders, and short paths among equals", async () => {
    const { signal } = new AbortController();
    expect(await rankPaths(["main/a/inside.ts", "src/main.ts", "main.ts"], "main", { limit: 5, signal })).toEqual([
      "main.ts",
      "src/main.ts",
      "main/a/inside.ts",
    ]);
  });
});
