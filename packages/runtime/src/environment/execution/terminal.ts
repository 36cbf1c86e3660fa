import { accessSync, constants } from "node:fs";
import { constants as system } from "node:os";
import { join, resolve } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { EnvironmentError, type TerminalSize } from "@keelson/protocol";
import type { ProgramExit, RunningProgram } from "./running-program.ts";

const PACKAGE = "@lydell/node-pty";
const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };
// What a terminal takes for the end of the input.
const END_OF_INPUT = "\u0004";

interface ProgramOnTerminal {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

/** Starts it as the leader of a session with a terminal of its own. What it writes, to whichever stream, comes as stdout. */
export async function startOnTerminal({ program, args, cwd, env }: ProgramOnTerminal, size: true | TerminalSize): Promise<RunningProgram> {
  const { columns, rows } = size === true ? DEFAULT_SIZE : size;
  const { spawn } = await loadNodePty();
  checkProgram(program, args, env["PATH"] ?? "", cwd);
  const terminal = spawn(program, [...args], {
    name: env["TERM"] ?? "xterm-256color",
    cols: columns,
    rows,
    cwd,
    env: { ...env },
    // Pieces as they come, so that characters are put together by whoever reads them.
    encoding: null,
  });
  const { promise: exited, resolve: exit } = Promise.withResolvers<ProgramExit>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const stdout = new PassThrough();
  // Its type says text; without an encoding it gives bytes.
  terminal.onData((data: string | Uint8Array) => void stdout.write(data));
  terminal.onExit(({ exitCode, signal }) => {
    stdout.end();
    exit(signal === undefined || signal === 0 ? { exitCode, signal: null } : { exitCode: null, signal: signalName(signal) });
    stdout.once("close", close);
  });
  const stdin = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      terminal.write(String(text));
      done();
    },
    final(done) {
      terminal.write(END_OF_INPUT);
      done();
    },
  });
  return {
    pid: terminal.pid,
    stdin,
    stdout,
    stderr: undefined,
    exited,
    closed,
    destroy() {
      stdin.destroy();
      stdout.destroy();
    },
  };
}

/** What is used of the package. */
interface NodePty {
  spawn(
    program: string,
    args: string[],
    options: { name: string; cols: number; rows: number; cwd: string; env: { [name: string]: string }; encoding: null },
  ): Terminal;
}

interface Terminal {
  readonly pid: number;
  write(text: string): void;
  onData(listener: (data: string | Uint8Array) => void): unknown;
  onExit(listener: (exit: { readonly exitCode: number; readonly signal?: number }) => void): unknown;
}

async function loadNodePty(): Promise<NodePty> {
  try {
    // A variable, so that it is loaded where it is installed, and builds don't follow it.
    const loaded = (await import(PACKAGE)) as Partial<NodePty> & { readonly default?: Partial<NodePty> };
    const { spawn = loaded.spawn } = loaded.default ?? {};
    if (typeof spawn !== "function") throw new Error(`it has no spawn, only ${Object.keys(loaded.default ?? loaded).join(", ")}`);
    return { spawn };
  } catch (cause) {
    const message = `A command on a terminal (\`pty\`) needs the package ${PACKAGE}, which can't be loaded: npm install ${PACKAGE}`;
    throw new EnvironmentError({ kind: "unsupported", message }, { cause });
  }
}

/** Where it starts something that is not there, or gets an argument that ends early, it would say so on the terminal only. */
function checkProgram(program: string, args: readonly string[], path: string, cwd: string): void {
  if ([program, ...args].some((argument) => argument.includes("\0")))
    throw new TypeError("an argument holds a NUL, which no program can be given");
  const places = program.includes("/") ? [resolve(cwd, program)] : path.split(":").map((folder) => join(resolve(cwd, folder), program));
  const isThere = places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (!isThere) throw Object.assign(new Error(`there is no ${program}`), { code: "ENOENT" });
}

function signalName(wanted: number): string {
  return Object.entries(system.signals).find(([, number]) => number === wanted)?.[0] ?? `signal ${wanted}`;
}
