import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runningChild } from "./running-program.ts";

describe.skipIf(process.platform === "win32")("a program at work", () => {
  it("is closed when it ended and its output did, also where a channel to it was closed from here", async () => {
    const child = spawn("sh", ["-c", "read line; echo $line"], { stdio: ["pipe", "pipe", "pipe", "ipc"] });
    const program = runningChild(child);
    let said = "";
    program.stdout?.on("data", (bytes) => (said += String(bytes)));
    program.stderr?.resume();
    child.disconnect();
    program.stdin?.end("the last word\n");
    await program.closed;
    expect(await program.exited).toEqual({ exitCode: 0, signal: null });
    expect(said).toBe("the last word\n");
  });
});
