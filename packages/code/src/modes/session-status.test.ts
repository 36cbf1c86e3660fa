import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, type JobInfo, UNKNOWN_USAGE, type Usd, usd } from "@keelson/protocol";
import { createModelRegistry } from "keelson/providers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunTerms } from "../core/run-terms.ts";
import { createSessionStatus, type StatusSource } from "./session-status.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const TERMS: RunTerms = { model: "a/one", mode: "default", effort: undefined };

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-status-")));
  mkdirSync(join(folder, ".git"));
  checkOut("main");
});
afterEach(() => rmSync(folder, { recursive: true }));

const checkOut = (branch: string) => writeFileSync(join(folder, ".git/HEAD"), `ref: refs/heads/${branch}\n`);
const event = (more: object) => ({ runId: "r1", seq: 1, at: 0, ...more }) as unknown as AgentEvent;
const usage = (cost: string | null, more: object = {}) => event({ type: "usage", usage: UNKNOWN_USAGE, model: "a/one", cost, ...more });

function open(more: Partial<StatusSource> = {}, cost: Usd | null = usd("1")) {
  let jobs: readonly JobInfo[] = [];
  let paid = cost;
  let frames = 0;
  const problems: unknown[] = [];
  const status = createSessionStatus({
    source: () => ({
      terms: TERMS,
      cwd: folder,
      inSandbox: true,
      view: async () => ({ metadata: { cost: paid } as never }),
      jobs: async () => jobs,
      ...more,
    }),
    models: createModelRegistry({ providers: {} }),
    changed: () => void (frames += 1),
    onProblem: (error) => void problems.push(error),
  });
  return {
    status,
    problems,
    frames: () => frames,
    setJobs: (given: readonly JobInfo[]) => void (jobs = given),
    pay: (given: Usd | null) => void (paid = given),
  };
}

describe("createSessionStatus", () => {
  it("reads cost, branch and jobs of a session that is opened", async () => {
    const { status, setJobs, frames } = open();
    setJobs([
      { id: "job_1", command: "x", status: "running" },
      { id: "job_2", command: "y", status: "exited" },
    ]);
    await status.refresh();
    expect(status.facts()).toEqual({ ...TERMS, context: undefined, compactAt: 0.4, inSandbox: true, jobs: 1, branch: "main", cost: "1" });
    expect(frames()).toBeGreaterThan(0);
  });

  it("adds what the run under way costs, its children too, and takes the figure of the session once it is over", async () => {
    const { status, pay } = open();
    await status.refresh();
    status.see(usage("0.5", { contextUtilization: 0.2 }));
    status.see(usage("0.25", { path: ["c1"], contextUtilization: 0.9 }));
    expect(status.facts()).toMatchObject({ cost: "1.75", context: 0.2 });
    pay(usd("1.8"));
    status.see(event({ type: "run-complete", reason: "complete" }));
    await settle();
    expect(status.facts().cost).toBe("1.8");
  });

  it("does not know the cost if a part of it is unknown", async () => {
    const { status } = open();
    await status.refresh();
    status.see(usage(null));
    status.see(usage("0.5"));
    expect(status.facts().cost).toBeNull();
  });

  it("forgets the context that a compaction made smaller until the next request", async () => {
    const { status } = open();
    status.see(usage("0", { contextUtilization: 0.45 }));
    status.see(event({ type: "compaction" }));
    expect(status.facts().context).toBeUndefined();
  });

  it("reads the branch again after a command, and counts what it left running", async () => {
    const { status, setJobs } = open();
    await status.refresh();
    checkOut("feature/x");
    setJobs([{ id: "job_1", command: "x", status: "running" }]);
    status.see(event({ type: "tool-result", callId: "c1", name: "read_file", output: "", isError: false, durationMs: 1 }));
    expect(status.facts().branch).toBe("main");
    status.see(event({ type: "tool-result", callId: "c1", name: "bash", output: "", isError: false, durationMs: 1 }));
    await settle();
    expect(status.facts()).toMatchObject({ branch: "feature/x", jobs: 1 });
  });

  it("reads the branch again when it is told that it may be another one", async () => {
    const { status, frames } = open();
    await status.refresh();
    checkOut("feature/y");
    const before = frames();
    status.readBranch();
    expect([status.facts().branch, frames()]).toEqual(["feature/y", before + 1]);
  });

  it("costs nothing before the first message, and reports a session that cannot be read", async () => {
    const begun = open({ view: async () => undefined });
    await begun.status.refresh();
    expect(begun.status.facts().cost).toBe("0");
    const broken = open({ view: () => Promise.reject(new Error("locked")) });
    await expect(broken.status.refresh()).rejects.toThrow("locked");
    broken.status.see(event({ type: "run-complete", reason: "complete" }));
    await settle();
    expect(broken.problems).toEqual([new Error("locked")]);
  });
});
