import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it, vi } from "vitest";

// A process of its own loads the sources, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const RUN = new URL("run.ts", import.meta.url).href;

/** Returns the libraries that importing a module loads in a process of its own. */
async function librariesOf(specifier: string): Promise<readonly string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, nextLoad) { loaded.push(url); return nextLoad(url, context); } });
    await import(${JSON.stringify(specifier)});
    console.log(JSON.stringify(loaded.filter((url) => url.includes("/node_modules/"))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as readonly string[];
}

it("runs without a person load no library of the terminal", async () => {
  expect((await librariesOf(RUN)).filter((url) => url.includes("@earendil-works"))).toEqual([]);
});
