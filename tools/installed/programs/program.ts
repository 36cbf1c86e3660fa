// An installed `keelson` with a project, a home folder and a model server of its own.
import { ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { spawn as openPty } from "@lydell/node-pty";
import { startModelServer } from "keelson/testing";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramTerminal {
  type(keys: string): void;
  /** Resolves when what was shown since the call before matches. */
  until(pattern: RegExp): Promise<void>;
  readonly exited: Promise<number>;
}

export interface Program extends AsyncDisposable {
  readonly project: string;
  readonly env: { readonly [name: string]: string };
  /** The bodies of all requests so far, as JSON. */
  readonly requests: readonly string[];
  put(path: string, content: string | Uint8Array): Promise<void>;
  /** Lets the model give these responses next. */
  script(...turns: readonly object[]): void;
  run(...argv: readonly string[]): Promise<Finished>;
  open(...argv: readonly string[]): ProgramTerminal;
}

/** @param keelson the path of the command */
export async function openProgram(keelson: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-program-"));
  const project = join(folder, "project");
  await mkdir(project);
  const turns: object[] = [];
  const requests: string[] = [];
  const server = await startModelServer((request) => {
    requests.push(JSON.stringify(request.body));
    return (turns.shift() ?? { text: "Nothing is left." }) as { text: string };
  });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    KEELSON_HOME: join(folder, "home"),
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: server.url,
    NO_COLOR: "1",
  };
  return {
    project,
    env,
    requests,
    async put(path, content) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), content);
    },
    script: (...next) => void turns.splice(0, turns.length, ...next),
    run: (...argv) =>
      new Promise((resolve, reject) => {
        const child = spawn(keelson, argv, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
        let [stdout, stderr] = ["", ""];
        child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
        child.once("error", reject);
        child.once("close", (code) => resolve({ code, stdout, stderr }));
      }),
    open(...argv) {
      const session = openPty(keelson, [...argv], { name: "xterm", cols: 100, rows: 40, cwd: project, env });
      let shown = "";
      let noticed = Promise.withResolvers<void>();
      session.onData((text) => {
        shown += text;
        noticed.resolve();
      });
      const exited = new Promise<number>((resolve) => session.onExit(({ exitCode }) => resolve(exitCode)));
      return {
        type: (keys) => session.write(keys),
        exited,
        async until(pattern) {
          for (let found = pattern.exec(shown); ; found = pattern.exec(shown)) {
            if (found !== null) {
              shown = shown.slice(found.index + found[0].length);
              return;
            }
            const ended = await Promise.race([noticed.promise, exited, setTimeout(60_000, "nothing for 60 s")]);
            ok(ended === undefined, `the terminal shows no ${pattern} (${ended}): ${shown}`);
            noticed = Promise.withResolvers();
          }
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}
