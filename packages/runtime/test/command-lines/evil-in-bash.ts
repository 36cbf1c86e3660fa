import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { confinedProgram } from "./confined-program.ts";

const SECONDS = 4;
const AT_ONCE = 4;

/** Gives a line to a real bash, in a folder and a home of its own, and says whether a program named `evil` ran. */
async function runsEvil(line: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-evasion-"));
  try {
    for (const name of ["bin", "project", "home"]) mkdirSync(join(folder, name));
    const mark = join(folder, "mark");
    writeFileSync(join(folder, "bin", "evil"), `#!/bin/sh\n: > '${mark}'\n`);
    chmodSync(join(folder, "bin", "evil"), 0o755);
    await finished(line, folder);
    return existsSync(mark);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function finished(line: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = confinedProgram(folder, "bash", "-c", line);
    const child = spawn("timeout", ["-k", "1", String(SECONDS), program, ...args], {
      cwd: join(folder, "project"),
      env: {
        PATH: `${join(folder, "bin")}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
        HOME: join(folder, "home"),
        TMPDIR: folder,
        TERM: "dumb",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_TERMINAL_PROMPT: "0",
      },
      stdio: "ignore",
      // Without a terminal to take over, and with a group that can be ended as a whole.
      detached: true,
    });
    child.on("error", reject);
    child.on("exit", () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch (error) {
        // Nobody of the group is left.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") return reject(error as Error);
      }
      resolve();
    });
  });
}

/** The lines in which `evil` really ran. A NUL can't be handed to a program, so lines with one are left out. */
export async function linesThatRunEvil(lines: readonly string[]): Promise<readonly string[]> {
  const waiting = lines.filter((line) => !line.includes("\0"));
  const ran = new Set<string>();
  const work = async (): Promise<void> => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) if (await runsEvil(line)) ran.add(line);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return lines.filter((line) => ran.has(line));
}
