import { describe, expect, it } from "vitest";
import { PathNames } from "./path-names.ts";
import { SECRET_PATHS, SECRET_SAMPLES } from "./secret-paths.ts";
import { GIT_STEERING_PATHS, STEERING_PATHS } from "./steering-paths.ts";

describe("a list of names", () => {
  const names = new PathNames(["AGENTS.md", ".config/mise", "*.code-workspace", "a.*.b"], ["except.code-workspace"]);

  it("has each name in any folder, with all below it, in upper and lower case", () => {
    for (const path of ["AGENTS.md", "a/agents.MD", "AGENTS.md/x", "x/.config/mise/conf.d/y", "x.code-workspace", "a.x.y.b"])
      expect([path, names.has(path)]).toEqual([path, true]);
    for (const path of [
      "AGENTS.mdx",
      "xAGENTS.md",
      ".config/other/mise",
      ".config",
      "mise",
      "code-workspace",
      "a.b",
      "except.code-workspace",
    ])
      expect([path, names.has(path)]).toEqual([path, false]);
  });

  it("says which part of a path is named", () => {
    expect(names.named("a/.config/mise/x")).toBe("a/.config/mise");
    expect(names.named("a/b")).toBeUndefined();
  });
});

describe("the lists of the workspace", () => {
  it("name each file once, without slashes at the ends", () => {
    for (const list of [STEERING_PATHS, GIT_STEERING_PATHS, SECRET_PATHS, SECRET_SAMPLES]) {
      expect(new Set(list.map((name) => name.toLowerCase())).size).toBe(list.length);
      for (const name of list) expect(name).toMatch(/^[^/\s]([^\s]*[^/\s])?$/);
    }
  });

  it("leave the sources, tools and samples of a project alone", () => {
    const [steering, secrets] = [new PathNames(STEERING_PATHS), new PathNames(SECRET_PATHS, SECRET_SAMPLES)];
    const plain = [
      "package.json",
      "Makefile",
      "eslint.config.js",
      "tsconfig.json",
      "Dockerfile",
      "docker-compose.yml",
      "Cargo.toml",
      "go.mod",
    ];
    for (const path of [
      ...plain,
      "src/agents.ts",
      ".gitignore",
      ".gitattributes",
      ".editorconfig",
      "README.md",
      "pyproject.toml",
      "build.gradle",
    ])
      expect([path, steering.has(path), secrets.has(path)]).toEqual([path, false, false]);
    for (const path of [".env.example", ".env.sample", ".env.template", ".env.dist", "id_rsa.pub", "src/env.ts", "keys.ts", "public.pub"])
      expect([path, secrets.has(path)]).toEqual([path, false]);
  });
});
