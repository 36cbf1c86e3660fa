// Bundles programs into one file each, and runs them where no package is installed. The path of esbuild is the argument.
import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Esbuild {
  build(options: object): Promise<{
    readonly metafile: { readonly outputs: { readonly [path: string]: { readonly imports: readonly { readonly path: string }[] } } };
  }>;
}

const [, , esbuild = ""] = process.argv;
const { default: bundler } = (await import(esbuild)) as { readonly default: Esbuild };
const folder = await mkdtemp(join(tmpdir(), "keelson-bundle-"));

async function bundle(program: string): Promise<{ readonly file: string; readonly imports: readonly string[] }> {
  const file = join(folder, "bundle.mjs");
  const source = program.includes("\n")
    ? { stdin: { contents: program, loader: "ts", resolveDir: import.meta.dirname } }
    : { entryPoints: [program] };
  const options = { bundle: true, platform: "node", format: "esm", minify: true, metafile: true, outfile: file, logLevel: "error" };
  const { metafile } = await bundler.build({ ...options, ...source });
  return { file, imports: Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)) };
}
const run = (file: string): string =>
  execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_PATH: "" } });

const tool = await bundle(`
import { defineTool } from "keelson";
const add = defineTool({ name: "add", description: "Adds.", effect: "read", input: { type: "object" }, execute: () => 3 });
console.log(add.name);
`);
deepEqual(tool.imports, []);
equal(run(tool.file), "add\n");

const shell = await bundle(`
import { createAgent, createRunner, defineTool } from "keelson";
import { readCommandLine } from "keelson/environment";
import { scriptedModel } from "keelson/testing";
const bash = defineTool({
  name: "bash",
  description: "Runs a command.",
  effect: "write",
  input: { type: "object", properties: { command: { type: "string" } } },
  effectsOf: ({ command }: { command: string }) => readCommandLine(command),
  execute: ({ command }: { command: string }) => command,
});
const model = scriptedModel([{ toolCalls: [{ name: "bash", input: { command: "npm test | tail -5 && rm -rf /" } }] }, "Done."]);
const permissions = { rules: [{ pattern: "bash(npm test*)", behavior: "allow" }, { pattern: "bash(tail *)", behavior: "allow" }, { pattern: "bash(rm *)", behavior: "deny" }] };
const agent = createAgent({ name: "a", model, tools: [bash], permissions: permissions as never });
let events = "";
const ran = createRunner({ agent }).run("go");
for await (const event of ran) events += JSON.stringify(event);
console.log((await ran.outcome).reason, events.includes("bash(rm *)"));
`);
equal(run(shell.file), "complete true\n");

const first = await bundle(join(import.meta.dirname, "first.ts"));
match(run(first.file), /umbrella/);
console.log(`a bundle of the first program: ${Math.round((await stat(first.file)).size / 1000)} kB`);
await rm(folder, { recursive: true });
