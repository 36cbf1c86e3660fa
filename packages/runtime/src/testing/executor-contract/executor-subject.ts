import { EnvironmentError, type EnvironmentFailure, type Executor } from "@keelson/protocol";

export interface ExecutorContractOptions {
  /** A new one, whose commands have a shell and the programs of POSIX, and start in a folder that they may write to. */
  create(): Promise<Executor> | Executor;
  /** Whether it gives terminals (`pty`). */
  readonly terminals: boolean;
}

/** What a rejected call failed with. */
export async function failureOf(work: Promise<unknown>): Promise<EnvironmentFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!EnvironmentError.is(error)) throw new Error(`An EnvironmentError was expected, not ${String(error)}.`);
  return error.failure;
}
