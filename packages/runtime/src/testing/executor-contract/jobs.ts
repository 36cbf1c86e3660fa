import type { Executor, JobOutput, Jobs, ProcessInfo } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { failureOf, type ExecutorContractOptions } from "./executor-subject.ts";

const PATIENCE_MS = 60_000;

function jobsOf({ jobs }: Executor): Jobs {
  if (jobs === undefined) throw new Error("This executor has no jobs.");
  return jobs;
}

/** Reads on until `enough`, or the end. */
async function readUntil(
  jobs: Jobs,
  id: string,
  enough: (text: string) => boolean,
): Promise<{ readonly text: string; readonly last: JobOutput }> {
  let text = "";
  for (let after = 0; ;) {
    const last = await jobs.poll(id, { after, waitMs: PATIENCE_MS });
    text += last.text;
    after = last.next;
    if (enough(text) || (last.job.status !== "running" && after >= last.totalBytes)) return { text, last };
  }
}

export function describeJobs({ create }: ExecutorContractOptions): void {
  describe("a job", () => {
    it("goes on when its start has returned, and is polled for what is new [VT-10]", async () => {
      const executor = await create();
      const jobs = jobsOf(executor);
      const started = await jobs.start({ command: "echo one; until [ -e go ]; do sleep 0.05; done; echo two >&2; exit 4" });
      expect(started).toMatchObject({ status: "running", command: expect.stringContaining("echo one") });
      expect(started.pid).toBeGreaterThan(0);
      const first = await readUntil(jobs, started.id, (text) => text.includes("one"));
      expect(first.last).toMatchObject({ text: "one\n", from: 0, next: 4, totalBytes: 4, job: { status: "running" } });
      await executor.execute({ command: "touch go" });
      expect(await jobs.ended(started.id)).toMatchObject({ status: "exited", exitCode: 4, signal: null, outputBytes: 8 });
      expect(await jobs.poll(started.id, { after: 4 })).toMatchObject({ text: "two\n", from: 4, next: 8, totalBytes: 8 });
      // What it wrote can be asked for again, from any place.
      expect((await jobs.poll(started.id, { after: 2 })).text).toBe("e\ntwo\n");
      expect((await jobs.list()).map(({ id, status }) => ({ id, status }))).toEqual([{ id: started.id, status: "exited" }]);
      await executor.execute({ command: "rm go" });
    });

    it("outlives the signal of the call that started it", async () => {
      const jobs = jobsOf(await create());
      const controller = new AbortController();
      const { id } = await jobs.start({ command: "echo up; sleep 300", signal: controller.signal });
      controller.abort();
      const { last } = await readUntil(jobs, id, (text) => text.includes("up"));
      expect(last.job.status).toBe("running");
      await jobs.kill(id);
    });

    it("is killed with all it started, and says so from then on", async () => {
      const executor = await create();
      const jobs = jobsOf(executor);
      const { id } = await jobs.start({ command: "sleep 300 & (sleep 300; sleep 300) & echo up; wait" });
      await readUntil(jobs, id, (text) => text.includes("up"));
      expect(await jobs.kill(id)).toMatchObject({ id, status: "killed" });
      expect(await jobs.kill(id)).toMatchObject({ id, status: "killed" });
      expect((await jobs.poll(id)).text).toBe("up\n");
      expect(await executor.processes?.()).toEqual([]);
    });

    it("ends after its time", async () => {
      const jobs = jobsOf(await create());
      const { id } = await jobs.start({ command: "sleep 300", timeoutMs: 300 });
      expect(await jobs.ended(id)).toMatchObject({ status: "timed-out" });
    });

    it("that can't be run is told where it is started", async () => {
      const jobs = jobsOf(await create());
      expect(await failureOf(jobs.start({}))).toMatchObject({ kind: "other" });
      expect(await failureOf(jobs.start({ command: "true", signal: AbortSignal.abort() }))).toMatchObject({ kind: "cancelled" });
      expect(await jobs.list()).toEqual([]);
      for (const ask of [jobs.poll("job_none"), jobs.kill("job_none"), jobs.ended("job_none")])
        expect(await failureOf(ask)).toMatchObject({ kind: "other", message: expect.stringContaining("job_none") });
    });

    it("that floods keeps head and tail of its output, and counts the rest", async () => {
      const jobs = jobsOf(await create());
      const { id } = await jobs.start({ command: "echo first; yes 0123456789 | head -n 50000; echo last", maxOutputBytes: 4000 });
      await jobs.ended(id);
      const total = 6 + 50_000 * 11 + 5;
      const head = await jobs.poll(id);
      expect(head).toMatchObject({ from: 0, totalBytes: total, text: expect.stringMatching(/^first\n/) });
      const tail = await jobs.poll(id, { after: head.next });
      expect(tail.from).toBeGreaterThan(head.next);
      expect(tail).toMatchObject({ next: total, text: expect.stringMatching(/\nlast\n$/) });
      expect(head.text.length + tail.text.length).toBeLessThanOrEqual(4000);
    });

    it("that floods is read whole, page by page, where it was given a store", async () => {
      const jobs = jobsOf(await create());
      await using blobs = createMemoryBlobStore();
      const { id } = await jobs.start({ command: "echo first; yes 'grüße 😀' | head -n 60000; echo last", maxOutputBytes: 4000, blobs });
      await jobs.ended(id);
      const whole = `first\n${"grüße 😀\n".repeat(60_000)}last\n`;
      let read = "";
      let after = 0;
      for (
        let page = await jobs.poll(id, { after, maxBytes: 50_001 });
        page.text !== "";
        page = await jobs.poll(id, { after, maxBytes: 50_001 })
      ) {
        expect(page.from).toBe(after);
        expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(50_001);
        read += page.text;
        after = page.next;
      }
      expect(read.length).toBe(whole.length);
      expect(read === whole).toBe(true);
    });
  });

  describe("the processes of an executor", () => {
    it("are those of all that it runs, with what they descend from, and none else [VT-10]", async () => {
      const executor = await create();
      if (executor.processes === undefined) return;
      const jobs = jobsOf(executor);
      expect(await executor.processes()).toEqual([]);
      const { id, pid } = await jobs.start({ command: "sleep 301 & sleep 302 & echo up; wait" });
      await readUntil(jobs, id, (text) => text.includes("up"));
      let seen = await executor.processes();
      const sleepers = (): readonly ProcessInfo[] => seen.filter(({ command }) => /^sleep 30[12]$/.test(command));
      // They are processes before they are programs.
      while (sleepers().length < 2) seen = await executor.processes();
      for (const { state, parentPid, memoryBytes } of sleepers()) {
        expect(["sleeping", "running", "waiting"]).toContain(state);
        expect(memoryBytes).toBeGreaterThan(0);
        expect(seen.map((other) => other.pid)).toContain(parentPid);
      }
      expect(seen.map((other) => other.pid)).toContain(pid);
      expect(seen.map((other) => other.pid)).not.toContain(process.pid);
      await jobs.kill(id);
      expect(await executor.processes()).toEqual([]);
    });
  });
}
