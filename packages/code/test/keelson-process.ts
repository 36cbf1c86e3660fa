import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentEvent } from "@keelson/protocol";
import { type ModelServer, type ServerScript, startModelServer } from "keelson/testing";

export const CLI: string = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

export interface Finished {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when standard output or error contains it; rejects when the process ends before. */
  until(pattern: RegExp): Promise<void>;
  /** Standard output so far. */
  output(): string;
}

export interface StartOptions {
  /** Written to standard input, which is then closed. Default: nothing to read. */
  readonly stdin?: string;
  /** Standard input stays open for `child.stdin`. */
  readonly keepInput?: boolean;
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}

/** A project, a home folder and a model server, for real `keelson` processes. */
export interface Workspace extends AsyncDisposable {
  readonly server: ModelServer;
  readonly project: string;
  readonly home: string;
  /** What its processes find in their environment. */
  readonly environment: { readonly [name: string]: string };
  start(args: readonly string[], options?: StartOptions): Running;
  keelson(...args: readonly string[]): Promise<Finished>;
}

export const WIRES = ["anthropic", "openai"] as const;
export type Wire = (typeof WIRES)[number];
export const MODELS: { readonly [W in Wire]: string } = { anthropic: "anthropic/claude-sonnet-4-5", openai: "openai/gpt-5-mini" };

/** What the environment must tell, beside what it tells anyway, for models over every wire. */
export function everyWire({ url, openAiUrl }: ModelServer): { readonly [name: string]: string } {
  return {
    GEMINI_API_KEY: "key-of-gemini",
    GEMINI_BASE_URL: url,
    OLLAMA_HOST: url,
    MISTRAL_API_KEY: "key-of-mistral",
    MISTRAL_BASE_URL: openAiUrl,
  };
}

/** @param files the project's, by path */
export async function openWorkspace(script: ServerScript, files: { readonly [path: string]: string } = {}): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
  const project = join(root, "project");
  const home = join(root, "home");
  await mkdir(project);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), content);
  }
  const server = await startModelServer(script);
  const running = new Set<ChildProcess>();
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    USER: "tester",
    // Reading some 200 sources takes longer than most of what is tested.
    NODE_COMPILE_CACHE: join(tmpdir(), "keelson-test-compile-cache"),
    KEELSON_HOME: home,
    // Most tests are about questions, which a sandbox makes needless. Those of the default are in sandbox-default.test.ts.
    KEELSON_SANDBOX: "0",
    ANTHROPIC_API_KEY: "key-of-anthropic",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: "key-of-openai",
    OPENAI_BASE_URL: server.openAiUrl,
  };

  function start(args: readonly string[], { stdin, keepInput = false, env, cwd = project }: StartOptions = {}): Running {
    const child = spawn(process.execPath, ["--conditions=source", CLI, ...args], {
      cwd,
      env: { ...environment, ...env },
      stdio: [stdin === undefined && !keepInput ? "ignore" : "pipe", "pipe", "pipe"],
    });
    running.add(child);
    let stdout = "";
    let stderr = "";
    let notice = Promise.withResolvers<void>();
    const told = (): void => {
      notice.resolve();
      notice = Promise.withResolvers();
    };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      told();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      told();
    });
    child.stdin?.on("error", () => {});
    if (!keepInput) child.stdin?.end(stdin);
    let ended = false;
    const finished = new Promise<Finished>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        ended = true;
        running.delete(child);
        told();
        resolve({ code, stdout, stderr });
      });
    });
    return {
      child,
      finished,
      output: () => stdout,
      async until(pattern) {
        while (!pattern.test(stdout) && !pattern.test(stderr)) {
          if (ended) throw new Error(`keelson ended before ${pattern}:\n${stdout}\n${stderr}`);
          await notice.promise;
        }
      },
    };
  }

  return {
    server,
    project,
    home,
    environment,
    start,
    keelson: (...args) => start(args).finished,
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      await server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The events of `--output-format stream-json`. */
export function eventsOf({ stdout }: Pick<Finished, "stdout">): readonly AgentEvent[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AgentEvent);
}

/** What a run's stream ends with: exactly one of these, as the last event. */
export function endOf(events: readonly AgentEvent[]): AgentEvent {
  const ends = events.filter(({ type }) => type === "run-complete" || type === "error" || type === "run-suspend" || type === "detached");
  const [end] = ends;
  if (ends.length !== 1 || end === undefined || events.at(-1) !== end)
    throw new Error(`a stream ends once, not with ${JSON.stringify(ends.map(({ type }) => type))} among ${events.length} events`);
  return end;
}

/** The tool results a request carries, as text. */
export function resultsIn(request: { readonly body: unknown }): string {
  const { messages } = request.body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  return JSON.stringify(messages.filter(({ role, content }) => role === "tool" || JSON.stringify(content).includes("tool_result")));
}
