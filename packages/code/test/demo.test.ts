import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startModelServer } from "keelson/testing";
import type { OutputStream, CommandHost } from "../src/core/command-host.ts";
import { demo } from "../src/demo/demo.ts";
import { BROKEN_PROJECT } from "../src/demo/project-copy.ts";
import { runProjectTests } from "../src/demo/run-project-tests.ts";

// Each test runs the suite of the broken project several times.
vi.setConfig({ testTimeout: 90_000 });

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const DEMO = fileURLToPath(new URL("../src/demo.ts", import.meta.url));
const CLI = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

let root: string;
beforeEach(async () => void (root = await realpath(await mkdtemp(join(tmpdir(), "keelson-demo-test-")))));
afterEach(() => rm(root, { recursive: true, force: true }));

interface Shown {
  readonly code: number | null;
  readonly text: string;
}

function runNode(file: string, args: readonly string[], env: { readonly [name: string]: string }): Promise<Shown> {
  const child = spawn(process.execPath, ["--conditions=source", file, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: root, TMPDIR: root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece: string) => void (text += piece));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, text }));
  });
}

/** The demo in this process, on another project. */
async function demoOn(project: string): Promise<Shown> {
  let text = "";
  const out: OutputStream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const host = {
    environment: { KEELSON_HOME: join(root, "home") },
    cwd: root,
    stdin: process.stdin,
    stdout: out,
    stderr: out,
    signals: process,
    command: "keelson",
    version: "0",
    now: Date.now,
    exit() {},
  } satisfies CommandHost;
  const code = await demo(host, { project });
  return { code, text };
}

describe("the demonstration", () => {
  it("repairs the project without a key, says that its model is a script, and leaves a session to look at", async () => {
    const original = await readFile(join(BROKEN_PROJECT, "src/split.js"), "utf8");
    const { code, text } = await runNode(DEMO, [], {});
    expect(text).toContain("scripted model: no API key found");
    expect(text).toMatch(
      /its tests: 5 of 18 fail[\s\S]*● edit_file src\/money\.js[\s\S]*● edit_file src\/split\.js[\s\S]*✔ complete · scripted\/repair · 8 turns · [\d.k]+ in, \d+ out · context \d+% · \$0\.\d+/,
    );
    expect(text).toMatch(
      /── what changed[\s\S]*src\/money\.js\n[\s\S]*\+ .*padEnd[\s\S]*src\/split\.js\n[\s\S]*── the project's tests[\s\S]*✔ 18 of 18 pass/,
    );
    expect(code).toBe(0);

    const folder = /the project +cd (\S+)/.exec(text)?.[1] ?? "";
    expect((await runProjectTests(folder)).passed).toBe(true);
    const session = /sessions show (\S+)/.exec(text)?.[1] ?? "";
    const shown = await runNode(CLI, ["sessions", "show", session], {});
    expect([shown.code, shown.text]).toEqual([0, expect.stringMatching(/The tests of this project fail[\s\S]*All 18 tests pass/)]);
    // What is shipped stays broken.
    expect(await readFile(join(BROKEN_PROJECT, "src/split.js"), "utf8")).toBe(original);
  });

  it("fails when the project's own tests do not pass at the end, whatever the model says", async () => {
    const project = join(root, "broken-further");
    await cp(BROKEN_PROJECT, project, { recursive: true });
    const test = join(project, "test/extra.test.js");
    await writeFile(test, 'import { it } from "node:test";\nit("cannot be repaired", () => { throw new Error("no"); });\n');
    const { code, text } = await demoOn(project);
    expect(text).toMatch(/✗ 1 of 19 fail/);
    expect(text).toContain("tests still fail. I could not repair the project.");
    expect(code).toBe(1);
  });

  it("uses the model of a key that is there, within its rules", async () => {
    await using server = await startModelServer([
      {
        toolCalls: [
          { name: "bash", input: { command: "echo sneaky > made" } },
          { name: "bash", input: { command: "node --test test/tab.test.js" } },
        ],
      },
      { text: "I give up." },
    ]);
    const { code, text } = await runNode(DEMO, [], { OPENAI_API_KEY: "key", OPENAI_BASE_URL: server.openAiUrl });
    expect(text).toMatch(/model: openai\//);
    expect(text).not.toContain("scripted");
    expect(text).toMatch(/✗ deny by the demo[\s\S]*● bash node --test test\/tab\.test\.js/);
    expect(text).toMatch(/── what changed[^\n]*\nnothing\n/);
    expect([code, text]).toEqual([1, expect.stringMatching(/✗ 5 of 18 fail/)]);
    const folder = /the project +cd (\S+)/.exec(text)?.[1] ?? "";
    expect(dirname(dirname(folder))).toBe(root);
  });

  it("uses the first model of an Ollama server that can call tools, without a key and within a money limit that it never nears [PV-08]", async () => {
    await using server = await startModelServer([{ text: "I give up." }], { models: ["first:4b", "second:8b"] });
    const { code, text } = await runNode(DEMO, [], { OLLAMA_HOST: server.url });
    expect(text).toContain("model: ollama/first:4b");
    expect(text).toContain("I give up.");
    expect(text).not.toContain("scripted");
    expect([code, server.requests[0]?.wire, server.requests[0]?.model]).toEqual([1, "ollama-chat", "first:4b"]);
  });

  it("says in one line what to do where Node cannot run TypeScript", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { readonly scripts: { readonly start: string } };
    const [, ...args] = scripts.start.split(" ");
    const child = spawn(process.execPath, ["--no-experimental-strip-types", ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece: string) => void (text += piece));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/^keelson: this is Node [\d.]+, which does not run TypeScript\. Run npm ci.*\n$/),
    ]);
  });

  it("plays the script, and says why, where the Ollama server is not there", async () => {
    const server = await startModelServer([]);
    await server.close();
    const { code, text } = await runNode(DEMO, [], { OLLAMA_HOST: server.url });
    expect(text).toMatch(/scripted model: .*is Ollama running at/);
    expect(code).toBe(0);
  });
});
