import { describe, expect, it } from "vitest";
import { hasFileType } from "./file-type.ts";

/** The extensions that each type of file has, as a person who searches expects them. */
const EXTENSIONS: { readonly [fileType: string]: string } = {
  rust: "rs",
  rs: "rs",
  python: "py pyi",
  py: "py pyi",
  js: "js mjs cjs jsx",
  javascript: "js mjs cjs jsx",
  typescript: "ts tsx mts cts",
  ts: "ts tsx mts cts",
  json: "json",
  yaml: "yaml yml",
  yml: "yaml yml",
  toml: "toml",
  markdown: "md markdown",
  md: "md markdown",
  go: "go",
  sh: "sh bash",
  bash: "sh bash",
};
const ALL = [...new Set(Object.values(EXTENSIONS).flatMap((extensions) => extensions.split(" ")))];

describe("hasFileType", () => {
  it.each(Object.entries(EXTENSIONS))("takes files of type %s for those that end with %s, and no others", (fileType, extensions) => {
    expect(ALL.filter((extension) => hasFileType(`src/a.${extension}`, fileType))).toEqual(
      ALL.filter((extension) => extensions.split(" ").includes(extension)),
    );
  });

  it("takes an unknown type for an extension", () => {
    expect(hasFileType("src/a.zig", "zig")).toBe(true);
    expect(hasFileType("src/zig", "zig")).toBe(false);
    expect(hasFileType("src/a.zig.bak", "zig")).toBe(false);
    expect(hasFileType("src/a.constructor", "constructor")).toBe(true);
    expect(hasFileType("src/a.rs", "constructor")).toBe(false);
  });
});
