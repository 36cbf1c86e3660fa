import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Imports a package in a process of its own and tells which modules that loaded: sources of the workspace, libraries, built-ins. */
async function loadedBy(
  specifier: string,
): Promise<{ readonly libraries: readonly string[]; readonly builtins: readonly string[]; readonly sources: readonly string[] }> {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, nextLoad) { loaded.push(url); return nextLoad(url, context); } });
    await import(${JSON.stringify(specifier)});
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program], {
    cwd: root,
  });
  const urls = JSON.parse(stdout) as readonly string[];
  return {
    builtins: urls.filter((url) => url.startsWith("node:")),
    libraries: urls.filter((url) => url.includes("/node_modules/")),
    sources: urls.filter((url) => url.startsWith("file:") && !url.includes("/node_modules/")),
  };
}

describe("importing", () => {
  it("@keelson/protocol loads its own files and nothing else", async () => {
    const { sources, libraries, builtins } = await loadedBy("@keelson/protocol");
    expect(sources.length).toBeGreaterThan(10);
    expect({ libraries, builtins }).toEqual({ libraries: [], builtins: [] });
  });

  it("keelson loads no library: schema checkers, repair and vendors' clients wait for their first use", async () => {
    const { sources, libraries, builtins } = await loadedBy("keelson");
    expect(sources.length).toBeGreaterThan(10);
    expect(libraries).toEqual([]);
    // SQLite is for those who create a store with it; child processes and terminals are for those who run commands.
    expect(builtins).not.toEqual(expect.arrayContaining([expect.stringMatching(/^node:(sqlite|child_process|readline|test)$/)]));
  });

  it("keelson/mcp loads no library and starts no program: the SDK waits for the first server", async () => {
    const { libraries, builtins } = await loadedBy("keelson/mcp");
    expect(libraries).toEqual([]);
    expect(builtins).not.toContain("node:child_process");
  });

  it("keelson loads nothing that is made for tests", async () => {
    const { sources } = await loadedBy("keelson");
    expect(sources.filter((url) => /\/src\/testing\/|\.test\.ts$/.test(url))).toEqual([]);
  });
});
