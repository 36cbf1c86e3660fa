import {
  EnvironmentError,
  type Environment,
  type EnvironmentSpec,
  type OpenEnvironment,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { mockExecutionContext } from "./mocks/mock-execution-context.ts";

export interface EnvironmentContractOptions {
  /** One that gives tools files and programs, in a folder that they may write. */
  create(): Environment | Promise<Environment>;
  /** What it holds. Default: nothing is asked of it. */
  readonly spec?: EnvironmentSpec | undefined;
  /** Boundaries, limits and injections that it provides, of those that most don't. */
  readonly provides?: readonly ("gvisor" | "micro-vm" | "wasm" | "gpu" | "sidecar")[] | undefined;
}

const NOTHING: EnvironmentSpec = { isolation: [], credentials: [] };
const RARE: { readonly [N in NonNullable<EnvironmentContractOptions["provides"]>[number]]: Partial<EnvironmentSpec> } = {
  "gvisor": { isolation: [{ type: "gvisor" }] },
  "micro-vm": { isolation: [{ type: "micro-vm" }] },
  "wasm": { isolation: [{ type: "wasm" }] },
  "gpu": { resources: { gpu: "1" } },
  "sidecar": { credentials: [{ name: "key", reference: "key", injection: { type: "sidecar" } }] },
};

/** The tests that every `Environment` must pass that opens for the tools of runs. */
export function describeEnvironment(name: string, { create, spec = NOTHING, provides = [] }: EnvironmentContractOptions): void {
  const opened = async (signal: AbortSignal = new AbortController().signal): Promise<Required<OpenEnvironment>> => {
    const environment = await create();
    if (environment.open === undefined) throw new Error("it gives tools nothing: it has no `open`");
    const open = await environment.open(spec, { runId: "r_1" as RunId, session: "s" as SessionId, signal });
    onTestFinished(() => open[Symbol.asyncDispose]());
    const { files, exec } = open;
    if (files === undefined || exec === undefined) throw new Error("it gives tools no files or no programs");
    return { files, exec, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
  };

  describe(`${name} keeps the Environment contract`, () => {
    it("gives files and programs that see the same folder [EN-02]", async () => {
      const { files, exec } = await opened();
      await files.write("from-files.txt", "written by a tool");
      const { stdout, exitCode } = await exec.execute({ command: "cat from-files.txt && echo written by a command > from-command.txt" });
      expect({ stdout, exitCode }).toEqual({ stdout: "written by a tool", exitCode: 0 });
      expect(Buffer.from((await files.read("from-command.txt")).content).toString("utf8")).toBe("written by a command\n");
    });

    it("tells a command that fails by its exit code, and ends one that takes too long or is aborted [EN-05]", async () => {
      const { exec } = await opened();
      expect(await exec.execute({ command: "echo no >&2; exit 3" })).toMatchObject({ exitCode: 3, stderr: "no\n", timedOut: false });
      expect(await exec.execute({ command: "sleep 600", timeoutMs: 50 })).toMatchObject({ timedOut: true });
      const controller = new AbortController();
      const aborted = exec.execute({ command: "sleep 600", signal: controller.signal });
      controller.abort();
      expect(await failureOf(aborted)).toMatchObject({ kind: "cancelled" });
    });

    it("opens for several runs at once, and for one after another", async () => {
      const [one, other] = [await opened(), await opened()];
      const told = await Promise.all([one, other].map(({ exec }) => exec.execute({ program: "echo", args: ["here"] })));
      expect(told.map(({ stdout }) => stdout)).toEqual(["here\n", "here\n"]);
    });

    for (const [what, part] of Object.entries(RARE))
      if (!(provides as readonly string[]).includes(what))
        it(`refuses what it can't provide before anything runs: ${what} [EN-03]`, async () => {
          const environment = await create();
          const asked: EnvironmentSpec = { ...spec, ...part };
          const user = { runId: "r_1" as RunId, session: "s" as SessionId, signal: new AbortController().signal };
          expect(await failureOf(environment.open?.(asked, user))).toMatchObject({ kind: "provision-failed" });
          const input = { message: [{ type: "text", text: "go" }], trigger: "task", metadata: {} } as const;
          expect(await failureOf(environment.run(input, asked, mockExecutionContext().context))).toMatchObject({
            kind: "provision-failed",
          });
        });
  });
}

async function failureOf(work: Promise<unknown> | undefined): Promise<EnvironmentError["failure"]> {
  const error: unknown = await work?.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("it did not reject with an EnvironmentError", { cause: error });
  return error.failure;
}
