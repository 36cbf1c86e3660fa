import type { Executor, PipelineRequest, PipelineResponse, PipelineStage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { failureOf, type ExecutorContractOptions } from "./executor-subject.ts";

function stage(command: string, ...args: readonly string[]): PipelineStage {
  return { command, args, stderrToStdout: false };
}

function piped(executor: Executor, stages: readonly PipelineStage[], request?: PipelineRequest): Promise<PipelineResponse> {
  if (executor.pipeline === undefined) throw new Error("This executor has no pipelines.");
  return executor.pipeline(stages, request);
}

/** Ended by the signal of a writer that nobody reads, however that is told. */
function endedBySigpipe({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }): boolean {
  return signal === "SIGPIPE" || exitCode === 141;
}

export function describePipelines({ create }: ExecutorContractOptions): void {
  describe("a pipeline", () => {
    it("gives each one's output to the next one, and the last one's to the caller [VT-12, VT-13]", async () => {
      const response = await piped(await create(), [stage("cat"), stage("tr", "a-z", "A-Z"), stage("sort", "-r")], { stdin: "b\na\nc\n" });
      expect(response).toMatchObject({
        exitCode: 0,
        stdout: "C\nB\nA\n",
        stages: [{ exitCode: 0, timedOut: false }, { exitCode: 0 }, { exitCode: 0 }],
      });
      expect(response).not.toHaveProperty("failedStage");
    });

    it("passes bytes as they are, and more than any buffer holds", async () => {
      const response = await piped(await create(), [
        stage("head", "-c", "3000000", "/dev/zero"),
        stage("tr", "\\000", "\\377"),
        stage("wc", "-c"),
      ]);
      expect(response.stdout.trim()).toBe("3000000");
      const odd = await piped(await create(), [stage("printf", "\\377\\000\\376"), stage("od", "-An", "-tx1")]);
      expect(odd.stdout.trim()).toBe("ff 00 fe");
    });

    it("ends with the exit code of the last one, and tells which failed [VT-12]", async () => {
      const response = await piped(await create(), [stage("sh", "-c", "echo a; echo no >&2; exit 3"), stage("cat")]);
      expect(response).toMatchObject({
        exitCode: 0,
        stdout: "a\n",
        stderr: "no\n",
        failedStage: 0,
        stages: [{ exitCode: 3 }, { exitCode: 0 }],
      });
    });

    it("ends a writer whose reader has enough, as a shell does", async () => {
      const response = await piped(await create(), [stage("yes"), stage("head", "-n", "2")]);
      expect(response).toMatchObject({ exitCode: 0, stdout: "y\ny\n", failedStage: 0 });
      expect(response.stages[0] && endedBySigpipe(response.stages[0])).toBe(true);
    });

    it("puts what a stage writes to stderr into its output, in order, where it is asked to [VT-12]", async () => {
      const noisy = { ...stage("sh", "-c", "echo 1; echo 2 >&2; echo 3"), stderrToStdout: true };
      const response = await piped(await create(), [noisy, stage("cat", "-n"), noisy]);
      expect(response).toMatchObject({ stdout: "1\n2\n3\n", stderr: "" });
      expect((await piped(await create(), [noisy, stage("cat")])).stdout).toBe("1\n2\n3\n");
    });

    it("ends one stage after its time, with what it started; the others see the end of its output [VT-12]", async () => {
      const slow = { ...stage("sh", "-c", "echo begun; sleep 300 & sleep 300"), timeoutMs: 1000 };
      const response = await piped(await create(), [slow, stage("cat")]);
      expect(response).toMatchObject({ stdout: "begun\n", exitCode: 0, timedOut: true, failedStage: 0 });
      expect(response.stages.map(({ timedOut }) => timedOut)).toEqual([true, false]);
    });

    it("ends as a whole when its signal fires", async () => {
      const executor = await create();
      const controller = new AbortController();
      const work = piped(executor, [stage("sh", "-c", "echo up; sleep 300"), stage("cat"), stage("sh", "-c", "cat; sleep 300")], {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      });
      expect(await failureOf(work)).toMatchObject({ kind: "cancelled" });
      expect((await executor.processes?.()) ?? []).toEqual([]);
    });

    it("of which a program is missing is not run, and nothing of it is left", async () => {
      const executor = await create();
      for (const missing of [stage("no-such-program-here"), { ...stage("no-such-program-here"), stderrToStdout: true }])
        expect(await failureOf(piped(executor, [stage("sleep", "300"), missing, stage("cat")]))).toMatchObject({
          kind: "provision-failed",
          message: expect.stringContaining("no-such-program-here"),
        });
      expect((await executor.processes?.()) ?? []).toEqual([]);
      expect(await failureOf(piped(executor, []))).toMatchObject({ kind: "other" });
    });
  });
}
