// A terminal with a screen: what a person sees of an installed `keelson`, through a connection of any speed.
import { ok } from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import type { Program } from "./program.ts";

export interface Connection {
  readonly bytesPerSecond: number;
  /** The time that keys take to the program, and that what it writes takes to the screen. */
  readonly latencyMs: number;
}

export interface ScreenOptions {
  readonly argv?: readonly string[];
  /** Replaces variables of the program. */
  readonly env?: { readonly [name: string]: string };
  /** Default: nothing delays keys and output. */
  readonly connection?: Connection;
}

export interface ProgramScreen {
  type(keys: string): void;
  /** Resolves when the rows of the screen, joined, match. @returns the rows */
  until(pattern: RegExp): Promise<string>;
  /** Everything that the program has written so far. */
  written(): string;
  readonly exited: Promise<number>;
}

const PATIENCE_MS = 60_000;

export function openScreen(program: Program, keelson: string, { argv = [], env = {}, connection }: ScreenOptions = {}): ProgramScreen {
  const { bytesPerSecond, latencyMs } = connection ?? { bytesPerSecond: Number.POSITIVE_INFINITY, latencyMs: 0 };
  const screen = new xterm.Terminal({ cols: 100, rows: 40, scrollback: 10_000, allowProposedApi: true });
  const size = { cols: 100, rows: 40 };
  const pty = spawn(keelson, [...argv], {
    name: env["TERM"] ?? "xterm-256color",
    ...size,
    cwd: program.project,
    env: { ...program.env, ...env },
  });
  let written = "";
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  let carried = Promise.resolve();
  pty.onData((text) => {
    written += text;
    if (connection === undefined) return screen.write(text, tell);
    // A program that writes on is blocked until this has passed.
    pty.pause();
    carried = carried.then(async () => {
      await wait((Buffer.byteLength(text) / bytesPerSecond) * 1_000);
      pty.resume();
      void wait(latencyMs).then(() => screen.write(text, tell));
    });
  });
  const exited = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode }) => {
      resolve(exitCode);
      tell();
    }),
  );

  function rows(): string {
    const { active } = screen.buffer;
    const lines = Array.from({ length: screen.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  return {
    exited,
    written: () => written,
    type: (keys) => void wait(latencyMs).then(() => pty.write(keys)),
    async until(pattern) {
      for (const deadline = Date.now() + PATIENCE_MS; ;) {
        const shown = rows();
        if (pattern.test(shown)) return shown;
        ok(Date.now() < deadline, `the screen does not show ${pattern}:\n${shown}`);
        await Promise.race([changed.promise, wait(1_000)]);
      }
    },
  };
}
