import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentError, type ExecuteRequest } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { createProcessExecutor } from "./process-executor.ts";
import { canFindStrays } from "./stray-processes.ts";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "keelson-executor-")));
afterAll(() => rmSync(cwd, { recursive: true }));
const executor = createProcessExecutor({ cwd, killGraceMs: 100 });

/** Members of a process group that still run, by /proc where there is one. */
function members(group: number): string[] {
  try {
    return readdirSync("/proc").filter((entry) => {
      if (!/^\d+$/.test(entry)) return false;
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
        const [state, , memberOf] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(memberOf) === group && state !== "Z";
      } catch {
        return false;
      }
    });
  } catch {
    return execFileSync("ps", ["-o", "pid=", "-g", String(group)], { encoding: "utf8" })
      .split("\n")
      .filter(Boolean);
  }
}

/** Runs a command that prints its group first, and calls `then` when it has printed `ready`. */
async function withGroup(
  command: string,
  then: (controller: AbortController) => void,
  request: Partial<ExecuteRequest> = {},
  by = executor,
) {
  const controller = new AbortController();
  let output = "";
  const result = await by
    .execute({
      command: `echo $$; ${command}`,
      signal: controller.signal,
      ...request,
      onOutput(_stream, text) {
        output += text;
        if (output.includes("ready")) then(controller);
      },
    })
    .then(
      (response) => ({ response, error: undefined }),
      (error: unknown) => ({ response: undefined, error }),
    );
  return { ...result, group: Number.parseInt(output, 10) };
}

describe("a command", () => {
  it("gives its output, its exit code and its byte counts", async () => {
    const response = await executor.execute({ command: "printf 'héllo'; printf oops >&2; exit 3" });
    expect(response).toMatchObject({
      exitCode: 3,
      signal: null,
      stdout: "héllo",
      stderr: "oops",
      stdoutBytes: 6,
      stderrBytes: 4,
      timedOut: false,
    });
    expect(response.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("is given to a program without a shell in between when it is one", async () => {
    const response = await executor.execute({ program: "printf", args: ["%s|", "$HOME", "a b;exit 1"] });
    expect(response.stdout).toBe("$HOME|a b;exit 1|");
  });

  it("starts in the working directory, or in a folder relative to it", async () => {
    expect((await executor.execute({ command: "pwd; mkdir -p inner" })).stdout.trim()).toBe(cwd);
    expect((await executor.execute({ command: "pwd", cwd: "inner" })).stdout.trim()).toBe(join(cwd, "inner"));
  });

  it("reads the stdin it is given, and nothing when it is given none", async () => {
    expect((await executor.execute({ command: "cat", stdin: "grüße" })).stdout).toBe("grüße");
    expect((await executor.execute({ command: "cat; echo end" })).stdout).toBe("end\n");
  });

  it("may end without reading its stdin", async () => {
    expect((await executor.execute({ command: "exit 0", stdin: "x".repeat(5_000_000) })).exitCode).toBe(0);
  });

  it("has no terminal to ask on", async () => {
    const response = await executor.execute({
      command: "(: </dev/tty) 2>/dev/null && echo terminal || echo none; test -t 0 || echo plain",
    });
    expect(response.stdout).toBe("none\nplain\n");
  });

  it("names the signal that ended it", async () => {
    expect(await executor.execute({ command: "kill -9 $$" })).toMatchObject({ exitCode: null, signal: "SIGKILL", timedOut: false });
  });

  it("streams whole characters while it runs, whatever the borders of the pieces", async () => {
    const seen: string[] = [];
    await executor.execute({
      program: process.execPath,
      args: [
        "-e",
        "const b=Buffer.from('a€😀');let i=0;(function f(){if(i<b.length){process.stdout.write(b.subarray(i,++i),()=>setImmediate(f))}})()",
      ],
      onOutput: (_stream, text) => void seen.push(text),
    });
    expect(seen.join("")).toBe("a€😀");
  });
});

describe("what cannot run", () => {
  it.each([
    ["a missing program", { program: "no-such-program-here" }, /no such program/],
    ["a missing folder", { command: "true", cwd: "not-there" }, /working directory .*not-there/],
    ["a NUL in an argument", { program: "echo", args: ["a\0b"] }, /Cannot run echo/],
  ] as const)("%s is told as such", async (_name, request, message) => {
    const error = await executor.execute(request as ExecuteRequest).catch((caught: unknown) => caught);
    expect(EnvironmentError.is(error, "provision-failed")).toBe(true);
    expect((error as Error).message).toMatch(message);
  });

  it("is a request with both a command and a program, or neither", async () => {
    await expect(executor.execute({ command: "true", program: "true" })).rejects.toThrow(/Exactly one/);
    await expect(executor.execute({})).rejects.toThrow(/Exactly one/);
  });

  it("is anything after the signal fired", async () => {
    const error = await executor
      .execute({ command: "echo ran > never-made", signal: AbortSignal.abort() })
      .catch((caught: unknown) => caught);
    expect(EnvironmentError.is(error, "cancelled")).toBe(true);
    expect(readdirSync(cwd)).not.toContain("never-made");
  });
});

describe("the process group", { timeout: 30_000 }, () => {
  it("is ended as a whole on timeout, with what was printed until then", async () => {
    const { response, group } = await withGroup("sleep 300 & sleep 300 & echo ready; wait", () => {}, { timeoutMs: 1500 });
    expect(response).toMatchObject({ timedOut: true });
    expect(response?.stdout).toContain("ready");
    expect(members(group)).toEqual([]);
  });

  it("is ended as a whole on abort", async () => {
    const { error, group } = await withGroup("sleep 300 & echo ready; wait", (controller) => controller.abort());
    expect(EnvironmentError.is(error, "cancelled")).toBe(true);
    expect(members(group)).toEqual([]);
  });

  it("is killed when it ignores the request to end", async () => {
    const { error, group } = await withGroup(
      "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo ready; while :; do sleep 1; done",
      (controller) => controller.abort(),
    );
    expect(EnvironmentError.is(error, "cancelled")).toBe(true);
    expect(members(group)).toEqual([]);
  });

  it("gets time to end in an orderly way", async () => {
    const patient = createProcessExecutor({ cwd, killGraceMs: 60_000 });
    const { error, group } = await withGroup(
      "trap 'echo cleaned > cleaned.txt; exit 7' TERM; echo ready; sleep 300 & wait",
      (controller) => controller.abort(),
      {},
      patient,
    );
    expect(EnvironmentError.is(error, "cancelled")).toBe(true);
    expect(readFileSync(join(cwd, "cleaned.txt"), "utf8")).toBe("cleaned\n");
    expect(members(group)).toEqual([]);
  });

  it("loses the processes that a finished command left behind", async () => {
    const { response, group } = await withGroup(
      "(sleep 300; sleep 300) >/dev/null 2>&1 & nohup sleep 300 & disown -a; echo ready",
      () => {},
    );
    expect(response).toMatchObject({ exitCode: 0, timedOut: false });
    expect(members(group)).toEqual([]);
  });

  it("does not keep the call waiting when somebody outside it holds the pipe", async () => {
    const { response, group } = await withGroup("env -i setsid sleep 30 & echo pid:$!; echo ready", () => {});
    try {
      expect(response).toMatchObject({ exitCode: 0 });
      expect(members(group)).toEqual([]);
    } finally {
      process.kill(Number(/pid:(\d+)/.exec(response?.stdout ?? "")?.[1]), "SIGKILL");
    }
  });

  it.each(["SIGTERM", "SIGHUP", "SIGKILL"] as const)("is killed when this process dies of %s, jobs included", async (signal) => {
    const module = new URL("./process-executor.ts", import.meta.url).href;
    const script = `import { createProcessExecutor } from ${JSON.stringify(module)};
      const executor = createProcessExecutor({ cwd: "/" });
      const print = (_, text) => process.stdout.write(text);
      executor.execute({ command: "trap '' TERM HUP; echo group:$$; sleep 300 & wait", onOutput: print });
      const job = await executor.jobs.start({ command: "trap '' TERM HUP; sleep 300 & wait" });
      print("", "group:" + job.pid + "\\n");`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (printed.split("group:").length === 3 && printed.endsWith("\n")) child.kill(signal);
    });
    await once(child, "close");
    const groups = [...printed.matchAll(/group:(\d+)/g)].map(([, group]) => Number(group));
    expect(groups).toHaveLength(2);
    // Whoever kills them needs a moment.
    for (const group of groups) while (members(group).length > 0) await new Promise(setImmediate);
  });

  it("is killed when this process exits", async () => {
    const module = new URL("./process-executor.ts", import.meta.url).href;
    const script = `import { createProcessExecutor } from ${JSON.stringify(module)};
      createProcessExecutor({ cwd: "/" }).execute({ command: "echo $$; sleep 300", onOutput: (_, text) => { process.stdout.write(text); setImmediate(() => process.exit(0)); } });`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk) => (printed += chunk));
    await once(child, "close");
    const group = Number.parseInt(printed, 10);
    expect(group).toBeGreaterThan(0);
    while (members(group).length > 0) await new Promise(setImmediate); // SIGKILL is sent; the kernel needs a moment
  });
});

describe.runIf(canFindStrays())("what left the process group", { timeout: 30_000 }, () => {
  const WAYS: readonly (readonly [string, string])[] = [
    ["by setsid", "setsid sleep 300 >/dev/null 2>&1 & echo $! > stray.pid; echo ready"],
    ["by nohup and setsid", "nohup setsid sleep 300 >/dev/null 2>&1 & echo $! > stray.pid; echo ready"],
    ["by forking twice", "(setsid bash -c 'sleep 300 >/dev/null 2>&1 & echo $! > stray.pid'); echo ready"],
    [
      "and ignores SIGTERM",
      "setsid bash -c 'trap \"\" TERM; echo $$ > stray.pid; while :; do sleep 1; done' >/dev/null 2>&1 & sleep 0.3; echo ready",
    ],
    [
      "and whose child has an environment of its own",
      "setsid bash -c 'env -i sleep 300 & echo $! > stray.pid; wait' >/dev/null 2>&1 & sleep 0.3; echo ready",
    ],
    [
      "and starts something without that environment when it is to end",
      `setsid bash -c 'trap "trap \"\" TERM; env -i sleep 300 & echo \\$! > next.pid; mv next.pid stray.pid; exit" TERM; echo $$ > stray.pid; while :; do sleep 0.05; done' >/dev/null 2>&1 & until [ -s stray.pid ]; do :; done; echo ready`,
    ],
    [
      "and becomes one program after the other",
      `echo '[ -s stray.pid ] || echo $$ > stray.pid; exec bash again' > again; setsid bash again >/dev/null 2>&1 & until [ -s stray.pid ]; do :; done; echo ready`,
    ],
  ];
  const isThere = (pid: number): boolean => {
    try {
      return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    } catch {
      return false;
    }
  };
  const stray = (): number => Number(readFileSync(join(cwd, "stray.pid"), "utf8"));

  it.each(WAYS)("%s ends with the command", async (_way, command) => {
    const response = await executor.execute({ command });
    expect(response).toMatchObject({ exitCode: 0 });
    expect(response).not.toHaveProperty("left");
    expect(stray()).toBeGreaterThan(0);
    expect(isThere(stray())).toBe(false);
  });

  it.each(WAYS)("%s ends when the command is aborted", async (_way, command) => {
    const { error } = await withGroup(`${command}; sleep 300`, (controller) => controller.abort());
    expect(EnvironmentError.is(error, "cancelled")).toBe(true);
    expect(isThere(stray())).toBe(false);
  });

  it("of another command that is at work goes on", async () => {
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const first = executor
      .execute({
        command: "setsid sleep 300 >/dev/null 2>&1 & echo $! > stray.pid; echo ready; sleep 300",
        signal: controller.signal,
        onOutput: (_stream, text) => void (text.includes("ready") && begin()),
      })
      .catch(() => {});
    await started;
    await executor.execute({ command: "true" });
    expect(isThere(stray())).toBe(true);
    controller.abort();
    await first;
    expect(isThere(stray())).toBe(false);
  });

  it("is killed when this process dies of SIGKILL", async () => {
    const module = new URL("./process-executor.ts", import.meta.url).href;
    const script = `import { createProcessExecutor } from ${JSON.stringify(module)};
      createProcessExecutor({ cwd: ${JSON.stringify(cwd)} }).execute({ command: "setsid sleep 300 & echo $! > stray.pid; echo ready; sleep 300", onOutput: () => process.stdout.write("ready") });`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.once("data", () => child.kill("SIGKILL"));
    await once(child, "close");
    while (isThere(stray())) await new Promise(setImmediate);
  });

  it("is killed when this process exits", async () => {
    const module = new URL("./process-executor.ts", import.meta.url).href;
    const script = `import { createProcessExecutor } from ${JSON.stringify(module)};
      createProcessExecutor({ cwd: ${JSON.stringify(cwd)} }).execute({ command: "setsid sleep 300 & echo $! > stray.pid; echo ready; sleep 300", onOutput: () => setImmediate(() => process.exit(0)) });`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], { stdio: "ignore" });
    await once(child, "close");
    while (isThere(stray())) await new Promise(setImmediate); // SIGKILL is sent; the kernel needs a moment
  });
});

describe("the output", () => {
  it("of hundreds of megabytes is kept in bounded memory: its beginning, its end, and how much is missing", async () => {
    const before = process.memoryUsage().rss;
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    const response = await executor.execute({ command: "echo first; head -c 400000000 /dev/zero; echo last", maxOutputBytes: 1000 });
    clearInterval(timer);
    expect(response.stdoutBytes).toBe(400_000_000 + 11);
    expect(response.stdout.length).toBeLessThan(1100);
    expect(response.stdout).toMatch(/^first\n/);
    expect(response.stdout).toMatch(/last\n$/);
    expect(response.stdout).toContain(`[... ${400_000_000 + 11 - 1000} bytes omitted ...]`);
    expect(peak - before).toBeLessThan(150 * 1024 * 1024);
  }, 60_000);

  it("is bounded for stdout and stderr apart", async () => {
    const response = await executor.execute({ command: "head -c 5000 /dev/zero | tr '\\0' a; echo short >&2", maxOutputBytes: 100 });
    expect(response.stderr).toBe("short\n");
    expect(response.stdout).toContain("4900 bytes omitted");
  });

  it("callback that throws ends the command, and its error is the call's", async () => {
    await expect(
      executor.execute({
        command: "echo hello; sleep 300",
        onOutput: () => {
          throw new RangeError("watcher broke");
        },
      }),
    ).rejects.toThrow("watcher broke");
  });
});

describe("the environment of a command", () => {
  const printed = async (options: Partial<Parameters<typeof createProcessExecutor>[0]>, request: Partial<ExecuteRequest> = {}) => {
    process.env["EXAMPLE_API_KEY"] = "k";
    process.env["EXAMPLE_TOKEN"] = "t";
    process.env["EXAMPLE_SECRET"] = "s";
    process.env["AWS_SECRET_ACCESS_KEY"] = "a";
    process.env["EXAMPLE_PLAIN"] = "p";
    try {
      const response = await createProcessExecutor({ cwd, ...options }).execute({ command: "env", ...request });
      return new Set(response.stdout.split("\n").filter((line) => /^(EXAMPLE_|AWS_SECRET)/.test(line)));
    } finally {
      for (const name of ["EXAMPLE_API_KEY", "EXAMPLE_TOKEN", "EXAMPLE_SECRET", "AWS_SECRET_ACCESS_KEY", "EXAMPLE_PLAIN"])
        delete process.env[name];
    }
  };

  it("inherits no variable that is named like a secret", async () => {
    expect(await printed({})).toEqual(new Set(["EXAMPLE_PLAIN=p"]));
  });

  it("has the secrets that are passed on by name", async () => {
    expect(await printed({ passSecrets: ["EXAMPLE_TOKEN"] })).toEqual(new Set(["EXAMPLE_PLAIN=p", "EXAMPLE_TOKEN=t"]));
  });

  it("has what the executor and the request add", async () => {
    expect(await printed({ env: { EXAMPLE_SECRET: "given" } }, { env: { EXAMPLE_EXTRA: "x", EXAMPLE_PLAIN: "changed" } })).toEqual(
      new Set(["EXAMPLE_PLAIN=changed", "EXAMPLE_SECRET=given", "EXAMPLE_EXTRA=x"]),
    );
  });
});
