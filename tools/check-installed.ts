// Packs the staged packages, installs them into empty folders as users do (npm, pnpm, a global prefix), and uses their features there, on this
// Node and on the oldest that is supported. Other packages come from the registry that npm is configured for.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { type PackedPackage, startLocalRegistry } from "./installed/local-registry.ts";
import { type Manifest, entriesOf, publishedPackages } from "./package-entries.ts";
import { root, runCommand } from "./run-command.ts";

const installed = join(root, "tools", "installed");
const leastNode = join(installed, "node_modules", ".bin", "node");
if (!existsSync(leastNode)) throw new Error("The oldest supported Node is not installed: run tools/installed/install.sh");

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as Manifest).version;
/** Optional peers of keelson, and the programs' own libraries, in the versions of the workspace. */
const PEERS = ["@lydell/node-pty", "@modelcontextprotocol/client", "@modelcontextprotocol/server", "@vscode/ripgrep", "node-diff3"];
const OTHERS = ["vitest", "fast-check", "zod", "@xterm/headless"];
const exact = (names: readonly string[]): readonly string[] => names.map((name) => `${name}@${versionOf(name)}`);

let failed = 0;
function report(what: string, problem: string | undefined, seconds: number): void {
  console.log(`${problem === undefined ? "ok  " : "FAIL"} ${what} (${seconds.toFixed(1)} s)`);
  if (problem === undefined) return;
  console.log(problem.trim());
  failed += 1;
}

async function must(what: string, command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, output, seconds } = await runCommand(command, args, { cwd });
  report(what, code === 0 ? undefined : output, seconds);
  if (code !== 0) throw new Error(`${what} failed`);
}

const work = mkdtempSync(join(tmpdir(), "keelson-check-installed-"));
try {
  await using registry = await startLocalRegistry(await packAll(), (await runCommand("npm", ["config", "get", "registry"])).output.trim());
  const fromRegistry = ["--registry", registry.url, "--prefer-offline", "--no-audit", "--no-fund"];
  const project = (name: string): string => {
    const folder = join(work, name);
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
    cpSync(join(installed, "programs"), folder, { recursive: true });
    const [, first = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
    writeFileSync(join(folder, "first.ts"), first);
    return folder;
  };
  const [bare, npm, pnpm, global] = [project("bare"), project("npm"), project("pnpm"), join(work, "global")];
  const names = publishedPackages().map(({ manifest }) => manifest.name);
  await must("npm install keelson zod", "npm", ["install", "keelson", "zod", ...fromRegistry], bare);
  await must("npm install of all packages and peers", "npm", ["install", ...names, ...exact([...PEERS, ...OTHERS]), ...fromRegistry], npm);
  const pnpmProgram = join(installed, "node_modules", "pnpm", "bin", "pnpm.cjs");
  const pnpmArgs = ["add", "--registry", registry.url, "--prefer-offline", ...names, ...exact([...PEERS, ...OTHERS])];
  await must("pnpm add of all packages and peers", process.execPath, [pnpmProgram, ...pnpmArgs], pnpm);
  await must("npm install -g @keelson/code", "npm", ["install", "-g", "--prefix", global, "@keelson/code", ...fromRegistry], work);

  for (const node of [process.execPath, leastNode]) {
    const version = (await runCommand(node, ["--version"])).output.trim();
    // Programs of the packages are started by the Node that comes first.
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env["PATH"]}`, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
    const use = async (what: string, cwd: string, args: readonly string[]): Promise<void> => {
      const { code, output, seconds } = await runCommand(node, args, { cwd, env });
      report(`${version}, ${basename(cwd)}: ${what}`, code === 0 ? unexpectedWarning(output) : output, seconds);
      for (const [figure] of output.matchAll(/^a bundle of .*$/gm)) console.log(`     ${figure}`);
    };
    await use("the first program of the README", bare, ["first.ts"]);
    await use("bundles", bare, ["bundles.ts", join(installed, "node_modules", "esbuild", "lib", "main.js")]);
    await use("features without their optional peers", bare, ["without-peers.ts"]);
    for (const folder of [npm, pnpm]) {
      await use("the first program of the README", folder, ["first.ts"]);
      await use("every entry", folder, ["--input-type=module", "--eval", importsOfAll()]);
      await use("a client of an MCP server", folder, ["mcp-client.ts"]);
      await use("ripgrep, a sandbox, a terminal, a merge", folder, ["machine.ts"]);
      await use("the command", folder, ["command.ts", join(folder, "node_modules", ".bin", "keelson")]);
      await use("a day of work", folder, ["work.ts", join(folder, "node_modules", ".bin", "keelson")]);
    }
    await use("a conversation in terminals of each kind", npm, ["terminal.ts", join(npm, "node_modules", ".bin", "keelson")]);
    await use("the command of a global prefix", npm, ["command.ts", join(global, "bin", "keelson")]);
    await use("the contract suites", npm, [join("node_modules", "vitest", "vitest.mjs"), "run"]);
  }
} finally {
  if (failed === 0) rmSync(work, { recursive: true, force: true });
}
if (failed > 0) {
  console.log(`${failed} checks of the installed packages failed; kept: ${work}`);
  process.exitCode = 1;
}

async function packAll(): Promise<readonly PackedPackage[]> {
  const packed: PackedPackage[] = [];
  for (const { folder } of publishedPackages()) {
    const staged = join(root, "dist", basename(folder));
    if (!existsSync(join(staged, "package.json"))) throw new Error(`dist/${basename(folder)} does not exist: run \`npm run build\` first`);
    const target = mkdtempSync(join(work, "pack-"));
    await must(`npm pack dist/${basename(folder)}`, "npm", ["pack", staged, "--pack-destination", target], root);
    const [tarball = ""] = readdirSync(target);
    packed.push({
      manifest: JSON.parse(readFileSync(join(staged, "package.json"), "utf8")) as Manifest,
      tarball: readFileSync(join(target, tarball)),
    });
  }
  return packed;
}

function importsOfAll(): string {
  const specifiers = publishedPackages()
    .flatMap(entriesOf)
    .flatMap(({ specifier }) => specifier ?? []);
  // The contract suites declare tests, so they need a test runner around them.
  return specifiers
    .filter((specifier) => !/\/(contracts|engines)$/.test(specifier))
    .map((specifier) => `await import("${specifier}");`)
    .join("\n");
}

/** Returns a line with a warning, except that Node runs TypeScript, in which the checks are written, and that a peer is missing, which one of them tests. */
function unexpectedWarning(output: string): string | undefined {
  return output.split("\n").find((line) => /\w*Warning: (?!Type Stripping|Searches for patterns without a fixed text)/.test(line));
}
