import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { expect, it, vi } from "vitest";

// Real processes in real pseudo-terminals, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const PROGRAM = new URL("modes-program.ts", import.meta.url).pathname;
const PATIENCE = { timeout: 60_000, interval: 20 };

/** The program in a pseudo-terminal, and a terminal that shows what it writes. */
function openProgram() {
  const screen = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  const pty = spawn(process.execPath, ["--conditions=source", PROGRAM], {
    cols: 80,
    rows: 24,
    name: "xterm-256color",
    env: { ...process.env, TERM_PROGRAM: "vscode" },
  });
  pty.onData((data) => screen.write(data));
  let ended: { readonly exitCode: number; readonly signal?: number | undefined } | undefined;
  pty.onExit((ending) => {
    ended = ending;
  });
  const rows = (): string => {
    const buffer = screen.buffer.active;
    const lines = Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  };
  return {
    pty,
    ended: () => ended,
    rows,
    modes: () => [screen.modes.bracketedPasteMode, screen.modes.sendFocusMode],
    shows: (expected: string) => vi.waitUntil(() => rows() === expected, PATIENCE),
    async isStopped(): Promise<boolean> {
      const { stdout } = await promisify(execFile)("ps", ["-o", "state=", "-p", String(pty.pid)]);
      return stdout.trim().startsWith("T");
    },
    [Symbol.dispose]() {
      if (ended === undefined) pty.kill("SIGKILL");
      screen.dispose();
    },
  };
}

it("leaves the modes and removes the live region while Ctrl-Z stops the program, and draws again when it continues", async () => {
  using program = openProgram();
  await program.shows("a finished line\n› draft");
  expect(program.modes()).toEqual([true, true]);
  program.pty.write("\u001a");
  await vi.waitUntil(() => program.isStopped(), PATIENCE);
  await program.shows("a finished line");
  expect(program.modes()).toEqual([false, false]);
  process.kill(program.pty.pid, "SIGCONT");
  await program.shows("a finished line\n› draft");
  await vi.waitUntil(() => program.modes().every(Boolean), PATIENCE);
  program.pty.write("q");
  await vi.waitUntil(() => program.ended() !== undefined, PATIENCE);
  await program.shows("a finished line");
  expect([program.ended()?.exitCode, ...program.modes()]).toEqual([0, false, false]);
});

it.each([
  ["SIGTERM", 15],
  ["SIGQUIT", 3],
] as const)("leaves the modes before %s ends the program", async (signal, number) => {
  using program = openProgram();
  await program.shows("a finished line\n› draft");
  process.kill(program.pty.pid, signal);
  await vi.waitUntil(() => program.ended() !== undefined, PATIENCE);
  await vi.waitUntil(() => !program.modes().some(Boolean), PATIENCE);
  expect(program.ended()?.signal).toBe(number);
});
