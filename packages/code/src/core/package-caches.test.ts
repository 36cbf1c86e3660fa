import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  it("are below the folder of Keelson, one for each project, and led to by variables", () => {
    put("a/x");
    put("b/x");
    const [one, other] = ["a", "b"].map((name) => openPackageCaches(join(root, "home"), join(root, name), {}));
    expect(one?.folder).not.toBe(other?.folder);
    for (const name of [
      "npm_config_cache",
      "PIP_CACHE_DIR",
      "UV_CACHE_DIR",
      "GOCACHE",
      "GOMODCACHE",
      "CARGO_HOME",
      "GRADLE_USER_HOME",
      "YARN_CACHE_FOLDER",
    ]) {
      expect(one?.variables[name], name).toMatch(new RegExp(`^${one?.folder}/`));
      expect(lstatSync(one?.variables[name] ?? "").isDirectory()).toBe(true);
    }
    expect(lstatSync(one?.folder ?? "").mode & 0o777).toBe(0o700);
    expect(one?.variables).not.toHaveProperty("npm_config_store_dir");
  });

  it("keep the variables of the person beside theirs, and look for Go modules in the cache of the person first", () => {
    put("p/pnpm-lock.yaml");
    put("p/.yarnrc.yml");
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

  it("show the crates of the person to a project that has a Cargo.toml, and change none", () => {
    put("p/Cargo.toml");
    put("cargo/registry/cache/index/a-1.0.0.crate", "x".repeat(20_000));
    put("cargo/registry/index/small", "note");
    put("cargo/credentials.toml", "canary");
    const { folder } = openPackageCaches(join(root, "home"), join(root, "p"), { CARGO_HOME: join(root, "cargo") });
    const [crate, note] = [join(folder, "cargo/registry/cache/index/a-1.0.0.crate"), join(folder, "cargo/registry/index/small")];
    expect([lstatSync(crate).isSymbolicLink(), lstatSync(note).isSymbolicLink()]).toEqual([true, false]);
    writeFileSync(note, "changed");
    expect(readFileSync(join(root, "cargo/registry/index/small"), "utf8")).toBe("note");
    expect(() => lstatSync(join(folder, "cargo/credentials.toml"))).toThrow();
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
