import { describe, expect, it } from "vitest";
import { registryReadme } from "../tools/registry-readme.ts";

const text = "See [hooks](docs/guides/hooks.md), [`docs/models.md`](docs/models.md), [above](#parts) and [Zod](https://zod.dev).";

describe("a README on the page of a registry", () => {
  it("has links into the repository, where its address is known", () => {
    expect(registryReadme(text, "https://example.org/keelson/")).toBe(
      "See [hooks](https://example.org/keelson/blob/main/docs/guides/hooks.md), " +
        "[`docs/models.md`](https://example.org/keelson/blob/main/docs/models.md), [above](#parts) and [Zod](https://zod.dev).",
    );
  });

  it("has no link that leads nowhere, where it is not: the words stay, with the path in the repository", () => {
    expect(registryReadme(text, undefined)).toBe(
      "See hooks (`docs/guides/hooks.md`), `docs/models.md`, [above](#parts) and [Zod](https://zod.dev).",
    );
  });
});
