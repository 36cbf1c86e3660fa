import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { findRipgrep } from "../environment/search/find-ripgrep.ts";
import { createTokenCounter, loadTokenizer } from "../providers/index.ts";
import { isNotInstalled } from "./warn-missing-package.ts";

// Node names the package, not the path in it.
const notInstalled = (specifier: string): Promise<never> => {
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  return Promise.reject(Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code: "ERR_MODULE_NOT_FOUND" }));
};

describe("an optional package that is missing", () => {
  it("is named once in a warning with the consequence and the remedy if searches work without it", async () => {
    const warning = once(process, "warning");
    expect(await findRipgrep(notInstalled)).toBeUndefined();
    expect(await findRipgrep(() => Promise.resolve({ rgPath: undefined }))).toBeUndefined();
    expect((await warning)[0]).toMatchObject({
      name: "KeelsonWarning",
      message:
        "Searches for patterns without a fixed text take several times longer, because the package @vscode/ripgrep can't be loaded " +
        "(Cannot find package '@vscode/ripgrep' imported from here). Install it: npm install @vscode/ripgrep",
    });
  });

  it("makes a count of tokens an estimate, but a broken tokenizer is an error", async () => {
    const request = { model: "gpt-5", messages: [] };
    const target = { model: "gpt-5", provider: "openai" };
    const counted = (importModule: (name: string) => Promise<unknown>) =>
      createTokenCounter({ loadTokenizer: (model) => loadTokenizer(model, { importModule }) }).count(request, target as never);
    await expect(counted(() => Promise.resolve({}))).rejects.toThrow("npm install gpt-tokenizer");
    const { cause } = await loadTokenizer("gpt-5", { importModule: notInstalled }).then(
      () => new Error(),
      (error: unknown) => error as Error,
    );
    expect(isNotInstalled(cause, "gpt-tokenizer")).toBe(true);
    expect(isNotInstalled(new Error("dlopen failed"), "gpt-tokenizer")).toBe(false);
    expect(isNotInstalled(Object.assign(new Error("Cannot find package 'other'"), { code: "ERR_MODULE_NOT_FOUND" }), "gpt-tokenizer")).toBe(
      false,
    );
  });
});
