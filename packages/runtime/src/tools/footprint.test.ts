import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

/** Runs a program against the sources in a fresh process; its `loaded()` names the packages that were loaded so far. */
function run(program: string): unknown {
  const prelude = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1];
      if (name !== undefined && !name.startsWith("@keelson/")) packages.add(name);
      return next(url, context);
    } });
    const loaded = () => [...packages].sort();
    const tools = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
  `;
  const output = execFileSync(process.execPath, ["--conditions=source", "--input-type=module", "-e", `${prelude}\n${program}`], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  return JSON.parse(output);
}

describe("the tools of the runtime", () => {
  it("load no schema or repair library until one is needed", () => {
    const result = run(`
      const tool = tools.defineTool({ name: "t", description: "", input: { type: "object", properties: { a: { type: "string" } } }, execute: () => "" });
      const odd = tools.defineTool({ name: "odd", description: "", input: { type: "object", dependentRequired: {} }, execute: () => "" });
      const steps = [loaded()];
      await tools.prepareCall(tool, { inputText: '{"a": "x"}' });
      await tools.prepareCall(tool, { inputText: '{"a": ' });
      await tools.executeLeaf(tool, {}, tools.createToolCall());
      steps.push(loaded());
      await tools.prepareCall(tool, { inputText: "{'a': 'x'}" });
      steps.push(loaded());
      await tools.prepareCall(odd, { inputText: "{}" });
      steps.push(loaded().filter((name) => name === "ajv"));
      console.log(JSON.stringify(steps));
    `);
    expect(result).toStrictEqual([[], [], ["jsonrepair"], ["ajv"]]);
  });

  it("take the memory of an output of 100 MB once more for its blob, and give all of it back", () => {
    const result = run(`
      const { setFlagsFromString } = await import("node:v8");
      const { runInNewContext } = await import("node:vm");
      const tool = tools.defineTool({ name: "t", description: "", input: {}, execute: () => "0123456789abcde\\n".repeat(6_250_000) });
      let bytes = 0;
      const blobs = { put: async (whole) => { bytes += whole.length; return "sha256:0"; } };
      const { output } = await tools.executeLeaf(tool, {}, tools.createToolCall(), { blobs });
      const peak = process.resourceUsage().maxRSS / 1024;
      setFlagsFromString("--expose-gc");
      // What a frame or a pending job still holds is given back a little later: some collections, not just one.
      const gc = runInNewContext("gc");
      let left = Infinity;
      for (let collection = 0; collection < 20 && left >= 50; collection++) {
        await new Promise((resolve) => setImmediate(resolve));
        gc();
        const { heapUsed, external } = process.memoryUsage();
        left = (heapUsed + external) / 2 ** 20;
      }
      console.log(JSON.stringify({ bytes, peak, left, shown: output.length }));
    `);
    const { bytes, peak, left, shown } = result as { bytes: number; peak: number; left: number; shown: number };
    expect(bytes).toBe(100_000_000);
    expect(shown).toBeLessThanOrEqual(50 * 1024);
    // Megabytes: an empty process, the text and its bytes; a third copy would pass this.
    expect(peak).toBeLessThan(340);
    expect(left).toBeLessThan(50);
  });
});
