import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mirrorFolder } from "./mirror-folder.ts";
import { openPackageCaches } from "./package-caches.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "keelson-caches-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));
const put = (path: string, text = ""): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

describe("the caches of packages of a project", () => {
  const NAMES =
    "npm_config_cache PIP_CACHE_DIR UV_CACHE_DIR GOCACHE GOMODCACHE CARGO_HOME GRADLE_USER_HOME YARN_CACHE_FOLDER YARN_GLOBAL_FOLDER".split(
      " ",
    );

  it("are below the folder of Keelson, apart for each project, and led to by variables", () => {
    put("a/x");
    put("b/x");
    const [one, other] = ["a", "b"].map((name) => openPackageCaches(join(root, "home"), join(root, name), {}));
    for (const name of NAMES) {
      const folder = one?.variables[name] ?? "";
      expect(one?.folders, name).toContain(folder);
      expect(other?.folders).not.toContain(folder);
      expect(folder.startsWith(join(root, "home/caches/a-"))).toBe(true);
      expect(lstatSync(folder).isDirectory()).toBe(true);
      expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(one?.variables).not.toHaveProperty("npm_config_store_dir");
  });

  it("are made once: nothing is written into them after a command could have put links there", () => {
    for (const name of ["Cargo.toml", "gradlew", "pom.xml"]) put(`p/${name}`);
    put("cargo/git/db/x", "text");
    put("victim/here");
    const env = { CARGO_HOME: join(root, "cargo"), GRADLE_USER_HOME: join(root, "gradle") };
    const { folders } = openPackageCaches(join(root, "home"), join(root, "p"), env);
    for (const folder of folders) {
      for (const entry of readdirSync(folder)) rmSync(join(folder, entry), { recursive: true });
      for (const name of ["git", "registry", "repository", "wrapper", "gradle.properties"])
        symlinkSync(join(root, "victim"), join(folder, name));
    }
    openPackageCaches(join(root, "home"), join(root, "p"), env);
    expect(readdirSync(join(root, "victim"))).toEqual(["here"]);
  });

  it("keep the variables of the person beside theirs, and look for Go modules in the cache of the person first", () => {
    put("p/pnpm-lock.yaml");
    put("p/.yarnrc.yml");
    put("p/gradlew");
    const { variables } = openPackageCaches(join(root, "home"), join(root, "p"), {
      GOPROXY: "https://goproxy.example",
      GOPATH: "/go:/other",
      MAVEN_OPTS: "-Xmx1g",
    });
    expect(variables).toMatchObject({
      GOPROXY: "file:///go/pkg/mod/cache/download,https://goproxy.example",
      MAVEN_OPTS: expect.stringMatching(/^-Xmx1g -Dmaven/),
    });
    expect(variables["MAVEN_OPTS"]).toContain(" -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128");
    expect(readFileSync(join(variables["GRADLE_USER_HOME"] ?? "", "gradle.properties"), "utf8")).toContain(
      "systemProp.https.proxyPort=3128",
    );
    expect(variables).toHaveProperty("npm_config_store_dir");
    expect(variables).not.toHaveProperty("YARN_CACHE_FOLDER");
  });

  it("name the proxy that Go has by default beside the modules of the person, and none without Go", () => {
    put("go/go.env", "GOPROXY=https://default.example,direct\n");
    put("go/bin/go");
    const env = { GOMODCACHE: "/modules", XDG_CONFIG_HOME: join(root, "config") };
    const proxyWith = (more: { readonly [name: string]: string }) =>
      openPackageCaches(join(root, "home"), join(root, "p"), { ...env, ...more }).variables["GOPROXY"];
    expect(proxyWith({ PATH: join(root, "go/bin") })).toBe("file:///modules/cache/download,https://default.example,direct");
    expect(proxyWith({ PATH: join(root, "none") })).toBeUndefined();
  });

  it("show the crates of the person to a project that has a Cargo.toml, and change none", () => {
    put("p/Cargo.toml");
    put("cargo/registry/cache/index/a-1.0.0.crate", "x".repeat(20_000));
    put("cargo/registry/index/small", "note");
    put("cargo/credentials.toml", "canary");
    const { variables } = openPackageCaches(join(root, "home"), join(root, "p"), { CARGO_HOME: join(root, "cargo") });
    const folder = variables["CARGO_HOME"] ?? "";
    const [crate, note] = [join(folder, "registry/cache/index/a-1.0.0.crate"), join(folder, "registry/index/small")];
    expect([lstatSync(crate).isSymbolicLink(), lstatSync(note).isSymbolicLink()]).toEqual([true, false]);
    writeFileSync(note, "changed");
    expect(readFileSync(join(root, "cargo/registry/index/small"), "utf8")).toBe("note");
    expect(() => lstatSync(join(folder, "credentials.toml"))).toThrow();
  });
});

it("a mirrored folder is made once, and not at all without its original", () => {
  put("from/deep/file", "first");
  mirrorFolder(join(root, "from"), join(root, "to"));
  put("from/later", "later");
  mirrorFolder(join(root, "from"), join(root, "to"));
  mirrorFolder(join(root, "none"), join(root, "empty"));
  expect(readFileSync(join(root, "to/deep/file"), "utf8")).toBe("first");
  expect(() => lstatSync(join(root, "to/later"))).toThrow();
  expect(() => lstatSync(join(root, "empty"))).toThrow();
});
