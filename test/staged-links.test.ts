import { describe, expect, it } from "vitest";
import { stagedLinks } from "../tools/staged-links.ts";

const text =
  "See [hooks](guides/hooks.md#shell), [`a policy`](../packages/runtime/src/policy.ts), [`SECURITY.md`](../SECURITY.md), [above](#parts) and [Zod](https://zod.dev).";
const inRuntime = (path: string): string | undefined =>
  path.startsWith("docs/") ? path : path.startsWith("packages/runtime/") ? path.slice("packages/runtime/".length) : undefined;

describe("a document in an installed package", () => {
  it("links to the files of its package, and gives words and path of others", () => {
    expect(stagedLinks(text, { document: "docs/trust.md", stagedPath: inRuntime, repositoryUrl: undefined })).toBe(
      "See [hooks](guides/hooks.md#shell), [`a policy`](../src/policy.ts), `SECURITY.md`, [above](#parts) and [Zod](https://zod.dev).",
    );
  });

  it("links into the repository if its address is known and the package lacks the file", () => {
    const shown = stagedLinks("[policy](../../packages/restate/README.md#a)", {
      document: "docs/guides/engines.md",
      stagedPath: inRuntime,
      repositoryUrl: "https://example.org/keelson/",
    });
    expect(shown).toBe("[policy](https://example.org/keelson/blob/main/packages/restate/README.md#a)");
  });

  it("names the package of a guide if it is a README of another package", () => {
    const document = "packages/postgres/README.md";
    const stagedPath = (path: string): string | undefined => (path === document ? "README.md" : undefined);
    expect(stagedLinks("[in production](../../docs/guides/postgres.md)", { document, stagedPath, repositoryUrl: undefined })).toBe(
      "in production (`docs/guides/postgres.md` of the package `keelson`)",
    );
  });

  it("names the package of the coding agent for its guides, and none for what stays in the repository", () => {
    const document = "docs/guides/skills.md";
    const stagedPath = (path: string): string | undefined => (path === document ? document : undefined);
    expect(
      stagedLinks("[files](../existing-files.md), [tried](../dependencies.md)", { document, stagedPath, repositoryUrl: undefined }),
    ).toBe("files (`docs/existing-files.md` of the package `@keelson/code`), tried (`docs/dependencies.md`)");
  });

  it("links from a README to the guides beside it", () => {
    const document = "packages/runtime/README.md";
    expect(stagedLinks("[hooks](../../docs/guides/hooks.md)", { document, stagedPath: inRuntime, repositoryUrl: undefined })).toBe(
      "[hooks](docs/guides/hooks.md)",
    );
  });
});
